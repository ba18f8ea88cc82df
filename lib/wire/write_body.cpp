// Packets to Protobuf messages.
#include "wire/body.hpp"
#include "wire/fields.hpp"
#include "wire/limits.hpp"

namespace lifering::wire {
namespace {

// One enumeration on the wire serves for the state of a row and for the kind of a claim.
static_assert(static_cast<int>(member_state::alive) == pb::STATE_ALIVE);
static_assert(static_cast<int>(member_state::suspect) == pb::STATE_SUSPECT);
static_assert(static_cast<int>(member_state::failed) == pb::STATE_FAILED);
static_assert(static_cast<int>(member_state::left) == pb::STATE_LEFT);
static_assert(static_cast<int>(swim::update_kind::alive) == pb::STATE_ALIVE);
static_assert(static_cast<int>(swim::update_kind::suspect) == pb::STATE_SUSPECT);
static_assert(static_cast<int>(swim::update_kind::failed) == pb::STATE_FAILED);
static_assert(static_cast<int>(swim::update_kind::left) == pb::STATE_LEFT);
static_assert(static_cast<int>(swim::refusal_reason::wrong_cluster) == pb::REFUSAL_WRONG_CLUSTER);
static_assert(static_cast<int>(swim::refusal_reason::ourselves) == pb::REFUSAL_OURSELVES);

void write_row(const swim::view_row& from, pb::ViewRow& to) {
  LIFERING_CHECK(from.subject);
  write_record(*from.subject, *to.mutable_subject());
  to.set_incarnation(from.incarnation);
  to.set_state(static_cast<pb::State>(from.state));
  to.set_failures(from.failures);
  to.set_age_seconds(from.age_seconds);
}

template <class Number, class List>
void write_packed(const std::vector<Number>& from, List& to) {
  to.Add(from.begin(), from.end());
}

struct body_writer {
  pb::Packet& to;

  void operator()(const std::monostate&) const {}

  void operator()(const swim::ping& value) const {
    auto& out = *to.mutable_ping();
    out.set_sequence(value.sequence);
    out.set_target(checked(value.target, swim::name_max));
    out.set_target_epoch(value.target_epoch);
  }

  void operator()(const swim::ping_request& value) const {
    auto& out = *to.mutable_ping_request();
    out.set_sequence(value.sequence);
    out.set_target(checked(value.target, swim::name_max));
    out.set_target_epoch(value.target_epoch);
    write_endpoint(value.target_address, *out.mutable_target_address());
    out.set_timeout_ms(value.timeout_ms);
  }

  void operator()(const swim::ack& value) const { to.mutable_ack()->set_sequence(value.sequence); }

  void operator()(const swim::nack& value) const {
    to.mutable_nack()->set_sequence(value.sequence);
  }

  void operator()(const swim::sync_request& value) const {
    auto& out = *to.mutable_sync_request();
    out.set_join(value.join);
    out.set_fresh(value.fresh);
  }

  void operator()(const swim::sync_reply& value) const {
    auto& out = *to.mutable_sync_reply();
    out.set_remembered_epoch(value.remembered_epoch);
    write_endpoint(value.seen_address, *out.mutable_seen_address());
  }

  void operator()(const swim::view_rows& value) const {
    auto& out = *to.mutable_view_rows();
    for (const auto& row : value.rows)
      write_row(row, *out.add_rows());
    out.set_last(value.last);
  }

  void operator()(const swim::broadcast_pull& value) const {
    auto& out = *to.mutable_broadcast_pull();
    out.set_origin(checked(value.origin, swim::name_max));
    out.set_epoch(value.epoch);
    out.set_after(value.after);
  }

  void operator()(const swim::metadata_pull& value) const {
    auto& out = *to.mutable_metadata_pull();
    out.set_name(checked(value.name, swim::name_max));
    out.set_epoch(value.epoch);
    out.set_hash(value.hash);
  }

  void operator()(const swim::metadata_push& value) const {
    auto& out = *to.mutable_metadata_push();
    out.set_hash(value.hash);
    out.set_content(checked(value.bytes, swim::metadata_max));
  }

  void operator()(const swim::view_compare& value) const {
    LIFERING_CHECK(value.buckets.size() <= swim::view_buckets_max);
    write_packed(value.buckets, *to.mutable_view_compare()->mutable_buckets());
  }

  void operator()(const swim::view_summary& value) const {
    LIFERING_CHECK(value.names.size() == value.digests.size());
    auto& out = *to.mutable_view_summary();
    out.set_bucket_count(value.bucket_count);
    write_packed(value.buckets, *out.mutable_buckets());
    write_packed(value.names, *out.mutable_names());
    write_packed(value.digests, *out.mutable_digests());
  }

  void operator()(const swim::view_delta& value) const {
    auto& out = *to.mutable_view_delta();
    for (const auto& row : value.rows)
      write_row(row, *out.add_rows());
    write_packed(value.wanted, *out.mutable_wanted());
  }

  void operator()(const swim::refusal& value) const {
    auto& out = *to.mutable_refusal();
    out.set_reason(static_cast<pb::RefusalReason>(value.reason));
    out.set_detail(checked(value.detail, swim::name_max));
  }

  void operator()(const swim::user_message& value) const {
    auto& out = *to.mutable_user_message();
    out.set_sequence(value.sequence);
    out.set_payload(checked(value.payload, swim::user_payload_max));
  }
};

void write_sender(const swim::sender& from, pb::Sender& to) {
  LIFERING_CHECK(!from.name.empty());
  to.set_name(checked(from.name, swim::name_max));
  to.set_epoch(from.epoch);
  to.set_incarnation(from.incarnation);
  to.set_placement(from.placement);
  to.set_view_digest(from.view_digest);
  to.set_ring_fingerprint(from.ring_fingerprint);
  to.set_known_members(from.known_members);
}

void write_update(const swim::update& from, pb::Update& to) {
  to.set_kind(static_cast<pb::State>(from.kind));
  if (from.kind == swim::update_kind::alive) {
    LIFERING_CHECK(from.subject);
    write_record(*from.subject, *to.mutable_record());
    return;
  }
  const auto name = from.subject_name();
  LIFERING_CHECK(!name.empty() && name.size() <= swim::name_max);
  to.mutable_name()->assign(name);
  to.set_epoch(from.subject_epoch());
  to.set_incarnation(from.incarnation);
  to.set_accuser(checked(from.accuser, swim::name_max));
  to.set_accuser_epoch(from.accuser_epoch);
  to.set_refused(from.refused);
  to.set_witnesses(from.witnesses);
  to.set_failures(from.failures);
}

void write_broadcast(const swim::broadcast& from, pb::Broadcast& to) {
  LIFERING_CHECK(!from.origin.empty());
  to.set_origin(checked(from.origin, swim::name_max));
  to.set_origin_epoch(from.origin_epoch);
  to.set_sequence(from.sequence);
  to.set_payload(checked(from.payload, swim::user_payload_max));
}

}  // namespace

void write_body(const swim::packet& from, pb::Packet& to) {
  std::size_t items = from.updates.size() + from.broadcasts.size();
  if (const auto* view = std::get_if<swim::view_rows>(&from.body)) items += view->rows.size();
  if (const auto* delta = std::get_if<swim::view_delta>(&from.body)) items += delta->rows.size();
  LIFERING_CHECK(items <= items_max);
  write_sender(from.from, *to.mutable_sender());
  std::visit(body_writer{to}, from.body);
  for (const auto& item : from.updates)
    write_update(item, *to.add_updates());
  for (const auto& item : from.broadcasts)
    write_broadcast(item, *to.add_broadcasts());
}

}  // namespace lifering::wire
