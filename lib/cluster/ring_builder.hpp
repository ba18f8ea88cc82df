// The thread `lifering-ring`: where rings are built that would hold up a strand.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/execution_context.hpp>
#include <mutex>
#include <optional>

#include "cluster/loop_thread.hpp"

namespace lifering::cluster_detail {

/// A service of an execution context, as Asio's own are: all members whose strands run there build
/// their rings on this one thread, in turns. So hundreds of them in one process don't take the
/// processors from the thread that answers probes, and what changes while a member waits for its
/// turn goes into the ring that it builds then.
///
/// The thread starts with the first build and ends with the context.
class ring_builder final : public asio::execution_context::service {
 public:
  using key_type = ring_builder;
  static asio::execution_context::id id;

  /// The one of the context that `executor` belongs to. Any thread.
  static ring_builder& of(const asio::any_io_executor& executor);

  explicit ring_builder(asio::execution_context& owner) : service(owner) {}

  /// Of the thread, which runs what is posted in the order in which it came. Throws a system_error
  /// where the system has no thread to give. Any thread.
  asio::any_io_executor executor();

  void shutdown() override;

 private:
  std::mutex mutex_;
  std::optional<loop_thread> thread_;
};

}  // namespace lifering::cluster_detail
