// Protobuf messages to packets. Whatever a stranger may have written into a well-formed message is
// checked here.
#include <algorithm>
#include <bit>
#include <utility>

#include "wire/body.hpp"
#include "wire/limits.hpp"

namespace lifering::wire {
namespace {

/// The body as a T, keeping what it has if it is one already.
template <class T>
T& hold(swim::body& body) {
  if (auto* held = std::get_if<T>(&body)) return *held;
  return body.emplace<T>();
}

decode_error read_sender(const pb::Sender& from, swim::sender& to) {
  if (from.name().empty()) return decode_error::bad_field;
  if (from.name().size() > swim::name_max) return decode_error::over_limit;
  to.name = from.name();
  to.epoch = from.epoch();
  to.incarnation = from.incarnation();
  to.placement = from.placement();
  to.view_digest = from.view_digest();
  to.ring_fingerprint = from.ring_fingerprint();
  to.known_members = from.known_members();
  return decode_error::none;
}

/// A claim is about somebody: an alive one holds its record, the others a name.
decode_error read_update(const pb::Update& from, swim::update& to) {
  if (!pb::State_IsValid(from.kind())) return decode_error::bad_field;
  to.kind = static_cast<swim::update_kind>(from.kind());
  const bool is_alive = to.kind == swim::update_kind::alive;
  if (is_alive != from.has_record() || is_alive != from.name().empty()) {
    return decode_error::bad_field;
  }
  if (from.name().size() > swim::name_max || from.accuser().size() > swim::name_max) {
    return decode_error::over_limit;
  }
  // What an alive claim says beside its record is nothing; what is left of the last update goes.
  to.name = from.name();
  if (is_alive) {
    to.accuser.clear();
    to.epoch = to.accuser_epoch = 0;
    to.refused = false;
    to.witnesses = to.failures = 0;
    const auto error = read_record(from.record(), to.subject);
    if (error == decode_error::none) to.incarnation = to.subject->incarnation;
    return error;
  }
  to.subject.reset();
  to.epoch = from.epoch();
  to.incarnation = from.incarnation();
  to.accuser = from.accuser();
  to.accuser_epoch = from.accuser_epoch();
  to.refused = from.refused();
  to.witnesses = from.witnesses();
  to.failures = from.failures();
  return decode_error::none;
}

decode_error read_broadcast(const pb::Broadcast& from, swim::broadcast& to) {
  if (from.origin().empty()) return decode_error::bad_field;
  if (from.origin().size() > swim::name_max || from.payload().size() > swim::user_payload_max) {
    return decode_error::over_limit;
  }
  to.origin = from.origin();
  to.origin_epoch = from.origin_epoch();
  to.sequence = from.sequence();
  to.payload = from.payload();
  return decode_error::none;
}

decode_error read_row(const pb::ViewRow& from, swim::view_row& to) {
  if (!pb::State_IsValid(from.state())) return decode_error::bad_field;
  to.incarnation = from.incarnation();
  to.state = static_cast<member_state>(from.state());
  to.failures = from.failures();
  to.age_seconds = from.age_seconds();
  return read_record(from.subject(), to.subject);
}

/// Reads a list into another one, reusing its elements. Grows with what was found to be good, since
/// an empty message takes two bytes here and a hundred there.
template <class From, class To, class ReadOne>
decode_error read_list(const From& from, To& to, ReadOne read_one) {
  const auto size = static_cast<std::size_t>(from.size());
  if (to.size() > size) to.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (i == to.size()) to.emplace_back();
    const auto error = read_one(from[static_cast<int>(i)], to[i]);
    if (error != decode_error::none) return error;
  }
  return decode_error::none;
}

int count_bodies(const pb::Packet& packet) {
  return packet.has_ping() + packet.has_ping_request() + packet.has_ack() + packet.has_nack() +
         packet.has_sync_request() + packet.has_sync_reply() + packet.has_view_rows() +
         packet.has_refusal() + packet.has_user_message() + packet.has_view_compare() +
         packet.has_view_summary() + packet.has_view_delta() + packet.has_broadcast_pull() +
         packet.has_metadata_pull() + packet.has_metadata_push();
}

std::size_t count_items(const pb::Packet& packet) {
  return static_cast<std::size_t>(packet.updates_size()) +
         static_cast<std::size_t>(packet.broadcasts_size()) +
         static_cast<std::size_t>(packet.view_rows().rows_size()) +
         static_cast<std::size_t>(packet.view_delta().rows_size());
}

template <class List, class Number>
void read_packed(const List& from, std::vector<Number>& to) {
  to.assign(from.begin(), from.end());
}

bool is_bucket_count(std::size_t count) {
  return count <= swim::view_buckets_max && std::has_single_bit(count);
}

decode_error read_compare(const pb::ViewCompare& from, swim::view_compare& to) {
  if (!is_bucket_count(static_cast<std::size_t>(from.buckets_size()))) {
    return decode_error::bad_field;
  }
  read_packed(from.buckets(), to.buckets);
  return decode_error::none;
}

decode_error read_summary(const pb::ViewSummary& from, swim::view_summary& to) {
  const std::uint32_t count = from.bucket_count();
  if (!is_bucket_count(count) || from.names_size() != from.digests_size()) {
    return decode_error::bad_field;
  }
  if (static_cast<std::size_t>(from.names_size()) > items_max ||
      static_cast<std::size_t>(from.buckets_size()) > count) {
    return decode_error::over_limit;
  }
  to.bucket_count = count;
  read_packed(from.buckets(), to.buckets);
  read_packed(from.names(), to.names);
  read_packed(from.digests(), to.digests);
  const bool in_range = std::all_of(to.buckets.begin(), to.buckets.end(),
                                    [count](std::uint32_t bucket) { return bucket < count; });
  return in_range ? decode_error::none : decode_error::bad_field;
}

decode_error read_view(const pb::ViewRows& from, swim::view_rows& to) {
  to.last = from.last();
  return read_list(from.rows(), to.rows, read_row);
}

decode_error read_metadata_pull(const pb::MetadataPull& from, swim::metadata_pull& to) {
  if (from.name().empty()) return decode_error::bad_field;
  if (from.name().size() > swim::name_max) return decode_error::over_limit;
  to.name = from.name();
  to.epoch = from.epoch();
  to.hash = from.hash();
  return decode_error::none;
}

decode_error read_metadata_push(const pb::MetadataPush& from, swim::metadata_push& to) {
  if (from.content().size() > swim::metadata_max) return decode_error::over_limit;
  to.hash = from.hash();
  to.bytes = from.content();
  return decode_error::none;
}

decode_error read_pull(const pb::BroadcastPull& from, swim::broadcast_pull& to) {
  if (from.origin().empty()) return decode_error::bad_field;
  if (from.origin().size() > swim::name_max) return decode_error::over_limit;
  to.origin = from.origin();
  to.epoch = from.epoch();
  to.after = from.after();
  return decode_error::none;
}

decode_error read_delta(const pb::ViewDelta& from, swim::view_delta& to) {
  if (static_cast<std::size_t>(from.wanted_size()) > items_max) return decode_error::over_limit;
  read_packed(from.wanted(), to.wanted);
  return read_list(from.rows(), to.rows, read_row);
}

decode_error read_refusal(const pb::Refusal& from, swim::refusal& to) {
  if (!pb::RefusalReason_IsValid(from.reason())) return decode_error::bad_field;
  if (from.detail().size() > swim::name_max) return decode_error::over_limit;
  to.reason = static_cast<swim::refusal_reason>(from.reason());
  to.detail = from.detail();
  return decode_error::none;
}

decode_error read_user_message(const pb::UserMessage& from, swim::user_message& to) {
  if (from.payload().size() > swim::user_payload_max) return decode_error::over_limit;
  to.sequence = from.sequence();
  to.payload = from.payload();
  return decode_error::none;
}

/// What pings and requests for pings have in common.
template <class From, class To>
decode_error read_ping(const From& from, std::string& target, To& to) {
  if (from.target().size() > swim::name_max) return decode_error::over_limit;
  to.sequence = from.sequence();
  target = from.target();
  to.target = std::move(target);
  to.target_epoch = from.target_epoch();
  return decode_error::none;
}

/// `spare` has the storage for a target's name, unless the last body has it.
decode_error read_one_of(const pb::Packet& from, std::string& spare, swim::body& to) {
  if (auto* ping = std::get_if<swim::ping>(&to)) spare = std::move(ping->target);
  if (auto* request = std::get_if<swim::ping_request>(&to)) spare = std::move(request->target);
  if (from.has_ping()) return read_ping(from.ping(), spare, hold<swim::ping>(to));
  if (from.has_ping_request()) {
    const auto& request = from.ping_request();
    auto& out = hold<swim::ping_request>(to);
    out.timeout_ms = request.timeout_ms();
    const auto error = read_endpoint(request.target_address(), out.target_address);
    return error != decode_error::none ? error : read_ping(request, spare, out);
  }
  if (from.has_ack()) {
    hold<swim::ack>(to).sequence = from.ack().sequence();
  } else if (from.has_nack()) {
    hold<swim::nack>(to).sequence = from.nack().sequence();
  } else if (from.has_sync_request()) {
    to = swim::sync_request{from.sync_request().join(), from.sync_request().fresh()};
  } else if (from.has_sync_reply()) {
    auto& out = hold<swim::sync_reply>(to);
    out.remembered_epoch = from.sync_reply().remembered_epoch();
    return read_endpoint(from.sync_reply().seen_address(), out.seen_address);
  } else if (from.has_view_rows()) {
    return read_view(from.view_rows(), hold<swim::view_rows>(to));
  } else if (from.has_refusal()) {
    return read_refusal(from.refusal(), hold<swim::refusal>(to));
  } else if (from.has_user_message()) {
    return read_user_message(from.user_message(), hold<swim::user_message>(to));
  } else if (from.has_view_compare()) {
    return read_compare(from.view_compare(), hold<swim::view_compare>(to));
  } else if (from.has_view_summary()) {
    return read_summary(from.view_summary(), hold<swim::view_summary>(to));
  } else if (from.has_view_delta()) {
    return read_delta(from.view_delta(), hold<swim::view_delta>(to));
  } else if (from.has_broadcast_pull()) {
    return read_pull(from.broadcast_pull(), hold<swim::broadcast_pull>(to));
  } else if (from.has_metadata_pull()) {
    return read_metadata_pull(from.metadata_pull(), hold<swim::metadata_pull>(to));
  } else if (from.has_metadata_push()) {
    return read_metadata_push(from.metadata_push(), hold<swim::metadata_push>(to));
  } else {
    to = std::monostate{};
  }
  return decode_error::none;
}

}  // namespace

decode_error read_body(const pb::Packet& from, swim::packet& to) {
  if (count_bodies(from) > 1) return decode_error::bad_field;
  if (count_items(from) > items_max) return decode_error::over_limit;
  auto error = read_sender(from.sender(), to.from);
  if (error == decode_error::none) error = read_one_of(from, to.spare, to.body);
  if (error == decode_error::none) error = read_list(from.updates(), to.updates, read_update);
  if (error == decode_error::none) {
    error = read_list(from.broadcasts(), to.broadcasts, read_broadcast);
  }
  return error;
}

}  // namespace lifering::wire
