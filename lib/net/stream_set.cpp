#include "net/stream_set.hpp"

#include <asio/error.hpp>
#include <lifering/error.hpp>

#include "base/check.hpp"
#include "net/source.hpp"

namespace lifering::net {

stream_set::stream_set(io::executor executor, settings with, connector& connections,
                       operations& pending, stream_handler& handler, counters& count)
    : executor_(std::move(executor)),
      settings_(with),
      connector_(connections),
      pending_(pending),
      handler_(handler),
      count_(count) {}

void stream_set::open(swim::stream_id id, const endpoint& to, base::duration deadline) {
  LIFERING_CHECK(!swim::is_accepted(id) && !streams_.contains(id));
  std::unique_ptr<connection> made;
  std::error_code error = asio::error::no_descriptors;
  if (streams_.size() < settings_.streams_max) {
    made = connector_.make_connection(to, error);
  } else {
    ++count_.streams_refused_limit;
  }
  const auto added = std::make_shared<stream>(*this, id, std::move(made));
  streams_.emplace(id, added);
  if (error) return added->fail_later(error);
  added->set_deadline(deadline);
  added->connect();
}

void stream_set::accept(std::unique_ptr<connection> made, const endpoint& from) {
  const auto source = source_of(from);
  const bool is_full = accepted_ >= accepted_max() || streams_.size() >= settings_.streams_max;
  if (is_full || (accepted_ >= strangers_max() && !handler_.is_members_source(source))) {
    ++count_.streams_refused_limit;
    return;
  }
  const auto known = accepted_from_.find(source);
  if (known != accepted_from_.end() && known->second >= settings_.per_source_max) {
    ++count_.streams_refused_source;
    return;
  }
  ++accepted_from_[source];
  const auto id = swim::stream_id{swim::accepted_stream_bit | ++next_accepted_};
  const auto added = std::make_shared<stream>(*this, id, std::move(made), source);
  streams_.emplace(id, added);
  ++accepted_;
  ++count_.streams_accepted;
  added->set_deadline(settings_.accepted_deadline);
  handler_.stream_accepted(id, from);
  handler_.batch_ended();
  added->start();
}

void stream_set::accepted_ended(const endpoint& source) {
  --accepted_;
  const auto known = accepted_from_.find(source);
  LIFERING_CHECK(known != accepted_from_.end());
  if (--known->second == 0) accepted_from_.erase(known);
}

void stream_set::sent_to(const std::shared_ptr<stream>& to) {
  if (queued_ > queued_max) return to->fail_later(asio::error::no_buffer_space);
  to->send_queued();
}

void stream_set::close(swim::stream_id id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const auto closing = found->second;
  closing->release();
}

void stream_set::drop(swim::stream_id id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const auto ending = found->second;
  if (!ending->is_released()) ending->abort();
}

void stream_set::stop() {
  while (!streams_.empty()) {
    const auto ending = streams_.begin()->second;
    ending->abort();
  }
}

}  // namespace lifering::net
