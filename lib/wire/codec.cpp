#include "wire/codec.hpp"

#include <utility>

#include "base/check.hpp"
#include "wire/body.hpp"
#include "wire/message_slot.hpp"
#include "wire/replay_guard.hpp"
#include "wire/seal.hpp"

namespace lifering::wire {

std::string_view to_string(decode_error error) noexcept {
  switch (error) {
    case decode_error::none:
      return "none";
    case decode_error::truncated:
      return "truncated";
    case decode_error::trailing_bytes:
      return "trailing_bytes";
    case decode_error::not_ours:
      return "not_ours";
    case decode_error::wrong_version:
      return "wrong_version";
    case decode_error::wrong_cluster:
      return "wrong_cluster";
    case decode_error::malformed_body:
      return "malformed_body";
    case decode_error::over_limit:
      return "over_limit";
    case decode_error::bad_field:
      return "bad_field";
    case decode_error::not_sealed:
      return "not_sealed";
    case decode_error::cannot_open:
      return "cannot_open";
    case decode_error::repeated:
      return "repeated";
  }
  return "unknown";
}

namespace {

// A sealed packet's number in its sender: a tag and eight bytes.
constexpr std::size_t counter_size = 9;

}  // namespace

struct codec::state {
  std::string cluster_id;
  std::shared_ptr<const keyring> keys;
  message_slot outgoing;
  message_slot incoming;
  body_reader reader;
  std::vector<std::uint8_t> opened;
  replay_guard guard{lives_max};
  std::uint64_t counter = 0;
  receipt last;

  /// Opens the payload if it is sealed and says whether the mode of the moment takes it.
  decode_error take_payload(const envelope& parts, bytes_view& body);
  /// Tells repeated packets, once all else of them is good.
  decode_error take_number(const swim::sender& from, std::uint64_t number);
};

codec::codec(std::string cluster_id, std::shared_ptr<const keyring> keys)
    : state_(std::make_unique<state>()) {
  LIFERING_CHECK(!cluster_id.empty() && cluster_id.size() <= swim::cluster_id_max);
  state_->cluster_id = std::move(cluster_id);
  state_->keys = keys ? std::move(keys) : std::make_shared<const keyring>();
}

codec::~codec() = default;
codec::codec(codec&&) noexcept = default;
codec& codec::operator=(codec&&) noexcept = default;

std::size_t codec::overhead() const {
  const std::size_t header = envelope_prefix_size + state_->cluster_id.size();
  return header + (state_->keys->snapshot()->seals() ? seal_size + counter_size : 0);
}

void codec::encode(const swim::packet& from, std::vector<std::uint8_t>& out) {
  const auto with = state_->keys->snapshot();
  auto& message = state_->outgoing.begin();
  write_body(from, message);
  if (with->seals()) message.mutable_sender()->set_counter(++state_->counter);
  const std::size_t body_size = message.ByteSizeLong();
  state_->outgoing.set_size(body_size);

  const std::size_t begin = out.size();
  const std::size_t payload_size = body_size + (with->seals() ? seal_size : 0);
  out.reserve(begin + envelope_prefix_size + state_->cluster_id.size() + payload_size);
  append_header(state_->cluster_id, with->seals(), payload_size, out);
  const std::size_t header_size = out.size() - begin;
  out.resize(out.size() + payload_size);
  const auto payload = std::span(out).last(payload_size);
  const std::size_t body_at = with->seals() ? nonce_size : 0;
  message.SerializeWithCachedSizesToArray(payload.data() + body_at);
  if (with->seals()) {
    const auto header = bytes_view(out).subspan(begin, header_size);
    seal_payload(*with->keys.front(), random_nonce(), header, payload);
  }
}

decode_error codec::state::take_payload(const envelope& parts, bytes_view& body) {
  const auto with = keys->snapshot();
  last = {parts.sealed, false};
  if (!parts.sealed) {
    body = parts.payload;
    return with->mode == seal_mode::require ? decode_error::not_sealed : decode_error::none;
  }
  if (!open_payload(*with, parts.header, parts.payload, opened)) return decode_error::cannot_open;
  body = opened;
  return decode_error::none;
}

decode_error codec::state::take_number(const swim::sender& from, std::uint64_t number) {
  const auto verdict = guard.accept(from.name, from.epoch, number);
  last.first_of_life = verdict == replay_guard::verdict::first;
  return verdict == replay_guard::verdict::repeated ? decode_error::repeated : decode_error::none;
}

decode_error codec::decode(bytes_view from, swim::packet& to) {
  envelope parts;
  if (const auto error = read_envelope(from, parts); error != decode_error::none) return error;
  if (parts.cluster_id != state_->cluster_id) return decode_error::wrong_cluster;
  bytes_view body;
  if (const auto error = state_->take_payload(parts, body); error != decode_error::none) {
    return error;
  }
  auto& message = state_->incoming.begin(body.size());
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return decode_error::malformed_body;
  }
  if (const auto error = state_->reader.read(message, to); error != decode_error::none) {
    return error;
  }
  return parts.sealed ? state_->take_number(to.from, message.sender().counter())
                      : decode_error::none;
}

receipt codec::last_receipt() const noexcept {
  return state_->last;
}

std::string_view peek_cluster_id(bytes_view packet) noexcept {
  envelope parts;
  return read_envelope(packet, parts) == decode_error::none ? parts.cluster_id : "";
}

}  // namespace lifering::wire
