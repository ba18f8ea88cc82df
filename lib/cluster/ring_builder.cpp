#include "cluster/ring_builder.hpp"

#include <asio/query.hpp>

namespace lifering::cluster_detail {

asio::execution_context::id ring_builder::id;

ring_builder& ring_builder::of(const asio::any_io_executor& executor) {
  return asio::use_service<ring_builder>(asio::query(executor, asio::execution::context));
}

asio::any_io_executor ring_builder::executor() {
  const std::lock_guard lock(mutex_);
  if (!thread_) thread_.emplace("lifering-ring");
  return thread_->executor();
}

void ring_builder::shutdown() {
  thread_.reset();
}

}  // namespace lifering::cluster_detail
