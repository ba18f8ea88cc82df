#include "wire/codec.hpp"

#include <utility>

#include "base/check.hpp"
#include "wire/body.hpp"
#include "wire/message_slot.hpp"

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
  }
  return "unknown";
}

struct codec::state {
  std::string cluster_id;
  message_slot outgoing;
  message_slot incoming;
  body_reader reader;
};

codec::codec(std::string cluster_id) : state_(std::make_unique<state>()) {
  LIFERING_CHECK(!cluster_id.empty() && cluster_id.size() <= swim::cluster_id_max);
  state_->cluster_id = std::move(cluster_id);
}

codec::~codec() = default;
codec::codec(codec&&) noexcept = default;
codec& codec::operator=(codec&&) noexcept = default;

std::size_t codec::overhead() const noexcept {
  return envelope_prefix_size + state_->cluster_id.size();
}

void codec::encode(const swim::packet& from, std::vector<std::uint8_t>& out) {
  auto& message = state_->outgoing.begin();
  write_body(from, message);
  const std::size_t size = message.ByteSizeLong();
  state_->outgoing.set_size(size);
  out.reserve(out.size() + overhead() + size);
  append_header(state_->cluster_id, false, size, out);
  out.resize(out.size() + size);
  message.SerializeWithCachedSizesToArray(out.data() + (out.size() - size));
}

decode_error codec::decode(bytes_view from, swim::packet& to) {
  envelope parts;
  if (const auto error = read_envelope(from, parts); error != decode_error::none) return error;
  if (parts.cluster_id != state_->cluster_id) return decode_error::wrong_cluster;
  if (parts.sealed) return decode_error::bad_field;
  auto& message = state_->incoming.begin(parts.payload.size());
  const auto size = static_cast<int>(parts.payload.size());
  if (!message.ParseFromArray(parts.payload.data(), size)) return decode_error::malformed_body;
  return state_->reader.read(message, to);
}

std::string_view peek_cluster_id(bytes_view packet) noexcept {
  envelope parts;
  return read_envelope(packet, parts) == decode_error::none ? parts.cluster_id : "";
}

}  // namespace lifering::wire
