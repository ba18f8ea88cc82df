#include "wire/codec.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/scratch.hpp"
#include "wire/body.hpp"
#include "wire/challenger.hpp"
#include "wire/message_slot.hpp"
#include "wire/replay_guard.hpp"
#include "wire/seal.hpp"
#include "wire/vouchers.hpp"

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

/// Where a packet is taken apart or put together.
struct workbench {
  message_slot messages;
  std::vector<std::uint8_t> opened;  ///< The payload of a sealed packet.

  /// A frame may be much larger than any datagram, and needn't have been opened.
  void clear() {
    constexpr std::size_t opened_kept = std::size_t{64} << 10;
    if (opened.capacity() > opened_kept) opened = std::vector<std::uint8_t>();
  }
};

}  // namespace

struct codec::state {
  std::string cluster_id;
  std::shared_ptr<const keyring> keys;  // Null: nothing is sealed or opened.
  replay_guard guard{lives_max};
  std::uint64_t counter = 0;
  receipt last;
  std::vector<std::uint64_t> heard;  ///< What came with the packet of `last`: vouchers.

  std::shared_ptr<const sealing> snapshot() const { return keys ? keys->snapshot() : nullptr; }
  std::size_t header_size() const { return envelope_prefix_size + cluster_id.size(); }

  void fill(const swim::packet& from, const proof& with, bool sealed, std::size_t vouchers_max,
            pb::Packet& to);
  void encode(const swim::packet& from, const proof& with, std::size_t vouchers_max,
              std::vector<std::uint8_t>& out);
  /// Appends the message in its envelope, sealed by the front key of `with` if there is one.
  /// Returns the size of the message.
  std::size_t finish(const pb::Packet& message, const sealing* with,
                     std::vector<std::uint8_t>& out);
  /// Opens the payload if it is sealed and says whether the mode of the moment takes it.
  decode_error take_payload(const envelope& parts, std::vector<std::uint8_t>& opened,
                            bytes_view& body);
  decode_error read(bytes_view from, swim::packet& to);
  void take_vouchers(const pb::Packet& from);
};

namespace {

/// The state of the keys if it seals.
const sealing* sealing_of(const std::shared_ptr<const sealing>& keys) {
  return keys && keys->seals() ? keys.get() : nullptr;
}

/// Whether a packet was made for the way on which it came. Every frame that a sealed stream takes
/// has a proof, so none of them is taken as a datagram too.
bool is_of_stream(const proof& with) {
  return challenger::is_for_stream(with.challenge) || challenger::is_for_stream(with.echo);
}
bool is_of_datagram(const proof& with) {
  const auto even = [](std::uint64_t number) {
    return number != 0 && !challenger::is_for_stream(number);
  };
  return even(with.challenge) || even(with.echo);
}

}  // namespace

codec::codec(std::string cluster_id, std::shared_ptr<const keyring> keys)
    : state_(std::make_unique<state>()) {
  LIFERING_CHECK(!cluster_id.empty() && cluster_id.size() <= swim::cluster_id_max);
  state_->cluster_id = std::move(cluster_id);
  state_->keys = std::move(keys);
}

codec::~codec() = default;
codec::codec(codec&&) noexcept = default;
codec& codec::operator=(codec&&) noexcept = default;

std::size_t codec::overhead() const {
  return state_->header_size() + (state_->keys ? seal_overhead + vouchers_size_max : 0);
}

bool codec::seals() const {
  return sealing_of(state_->snapshot()) != nullptr;
}

void codec::state::fill(const swim::packet& from, const proof& with, bool sealed,
                        std::size_t vouchers_max, pb::Packet& to) {
  write_body(from, to);
  auto& sender = *to.mutable_sender();
  if (sealed) {
    sender.set_counter(++counter);
    write_vouchers(from, guard, vouchers_max, to);
  }
  if (with.challenge != 0) sender.set_challenge(with.challenge);
  if (with.echo != 0) sender.set_echo(with.echo);
}

void codec::state::encode(const swim::packet& from, const proof& with, std::size_t vouchers_max,
                          std::vector<std::uint8_t>& out) {
  const auto held = snapshot();
  const auto* const sealed = sealing_of(held);
  const base::scratch<workbench> bench;
  auto& message = bench->messages.begin();
  fill(from, with, sealed != nullptr, vouchers_max, message);
  bench->messages.end(finish(message, sealed, out));
}

void codec::encode(const swim::packet& from, std::vector<std::uint8_t>& out, const proof& with) {
  state_->encode(from, with, vouchers_size_max, out);
}

void codec::encode_frame(const swim::packet& from, std::vector<std::uint8_t>& out,
                         const proof& with) {
  state_->encode(from, with, packet_max, out);
}

bool codec::encode_within(const swim::packet& from, const proof& with, std::size_t size,
                          std::vector<std::uint8_t>& out) {
  const auto keys = state_->snapshot();
  const auto* const sealed = sealing_of(keys);
  const base::scratch<workbench> bench;
  auto& message = bench->messages.begin();
  state_->fill(from, with, sealed != nullptr, vouchers_size_max, message);
  const std::size_t around = state_->header_size() + (sealed != nullptr ? seal_size : 0);
  const std::size_t bare = around + message.ByteSizeLong();
  if (bare > size) {
    bench->messages.end(bare);
    return false;
  }
  // A tag of two bytes and a length of up to three.
  constexpr std::size_t padding_head = 5;
  constexpr std::size_t padding_max = 16'384;
  if (size - bare > padding_head) {
    message.mutable_padding()->resize(std::min(size - bare - padding_head, padding_max));
  }
  bench->messages.end(state_->finish(message, sealed, out));
  return true;
}

std::size_t codec::state::finish(const pb::Packet& message, const sealing* with,
                                 std::vector<std::uint8_t>& out) {
  const bool sealed = with != nullptr;
  const std::size_t begin = out.size();
  const std::size_t body_size = message.ByteSizeLong();
  const std::size_t payload_size = body_size + (sealed ? seal_size : 0);
  out.reserve(begin + header_size() + payload_size);
  append_header(cluster_id, sealed, payload_size, out);
  out.resize(out.size() + payload_size);
  const auto payload = std::span(out).last(payload_size);
  message.SerializeWithCachedSizesToArray(payload.data() + (sealed ? nonce_size : 0));
  if (sealed) {
    const auto header = bytes_view(out).subspan(begin, header_size());
    seal_payload(*with->keys.front(), random_nonce(), header, payload);
  }
  return body_size;
}

decode_error codec::state::take_payload(const envelope& parts, std::vector<std::uint8_t>& opened,
                                        bytes_view& body) {
  const auto with = snapshot();
  last = {};
  last.sealed = parts.sealed;
  if (!parts.sealed) {
    body = parts.payload;
    const bool needs_seal = with && with->mode == seal_mode::require;
    return needs_seal ? decode_error::not_sealed : decode_error::none;
  }
  if (!with || !open_payload(*with, parts.header, parts.payload, opened)) {
    return decode_error::cannot_open;
  }
  body = opened;
  return decode_error::none;
}

decode_error codec::state::read(bytes_view from, swim::packet& to) {
  envelope parts;
  if (const auto error = read_envelope(from, parts); error != decode_error::none) return error;
  if (parts.cluster_id != cluster_id) return decode_error::wrong_cluster;
  const base::scratch<workbench> bench;
  bytes_view body;
  if (const auto error = take_payload(parts, bench->opened, body); error != decode_error::none) {
    return error;
  }
  auto& message = bench->messages.begin();
  const bool parsed = message.ParseFromArray(body.data(), static_cast<int>(body.size()));
  const auto error = parsed ? read_body(message, to) : decode_error::malformed_body;
  if (error == decode_error::none) {
    const auto& sender = message.sender();
    last.proof = {sender.challenge(), sender.echo()};
    if (parts.sealed) {
      last.number = sender.counter();
      take_vouchers(message);
    }
  }
  bench->messages.end(body.size());
  return error;
}

void codec::state::take_vouchers(const pb::Packet& from) {
  constexpr std::size_t usual_max = 32;  // Of datagrams; a frame may have one for each member.
  if (heard.capacity() > usual_max) heard = std::vector<std::uint64_t>();
  const int count = std::min(from.heard_size(), static_cast<int>(items_max));
  heard.assign(from.heard().begin(), from.heard().begin() + count);
}

decode_error codec::decode(bytes_view from, swim::packet& to) {
  if (const auto error = state_->read(from, to); error != decode_error::none) return error;
  receipt& last = state_->last;
  if (!last.sealed) return decode_error::none;
  if (is_of_stream(last.proof)) return decode_error::repeated;
  const auto verdict = state_->guard.accept(to.from.name, to.from.epoch, last.number);
  last.first_of_life = verdict == replay_guard::verdict::first;
  last.proven = state_->guard.is_proven(to.from.name, to.from.epoch);
  return verdict == replay_guard::verdict::repeated ? decode_error::repeated : decode_error::none;
}

decode_error codec::decode_frame(bytes_view from, swim::packet& to) {
  const auto error = state_->read(from, to);
  if (error != decode_error::none) return error;
  receipt& last = state_->last;
  if (last.sealed && is_of_datagram(last.proof)) return decode_error::repeated;
  if (last.sealed) last.proven = state_->guard.is_proven(to.from.name, to.from.epoch);
  return decode_error::none;
}

const receipt& codec::last_receipt() const noexcept {
  return state_->last;
}

void codec::mark_proven(const swim::sender& of) {
  LIFERING_CHECK(state_->last.sealed);
  state_->guard.prove(of.name, of.epoch, state_->last.number);
  state_->last.proven = true;
}

void codec::believe_vouchers(const swim::packet& to) {
  LIFERING_CHECK(state_->last.sealed && state_->last.proven);
  wire::believe_vouchers(to, state_->heard, state_->guard);
}

bool codec::is_proven(std::string_view name, std::uint64_t epoch) const {
  return state_->guard.is_proven(name, epoch);
}

std::string_view peek_cluster_id(bytes_view packet) noexcept {
  envelope parts;
  return read_envelope(packet, parts) == decode_error::none ? parts.cluster_id : "";
}

}  // namespace lifering::wire
