#include "wire/envelope.hpp"

#include <array>

#include "base/check.hpp"
#include "swim/message.hpp"
#include "wire/limits.hpp"

namespace lifering::wire {
namespace {

constexpr std::array<std::uint8_t, 2> magic{'l', 'r'};
constexpr std::uint8_t sealed_flag = 1;

constexpr std::size_t version_at = 2;
constexpr std::size_t oldest_reader_at = 3;
constexpr std::size_t flags_at = 4;
constexpr std::size_t id_size_at = 5;
constexpr std::size_t payload_size_at = 6;

static_assert(payload_size_at + 4 == envelope_prefix_size);
static_assert(packet_max < (std::uint64_t{1} << 32));

}  // namespace

decode_error read_prefix(bytes_view bytes, std::size_t& total_size) noexcept {
  for (std::size_t i = 0; i < magic.size() && i < bytes.size(); ++i) {
    if (bytes[i] != magic[i]) return decode_error::not_ours;
  }
  if (bytes.size() < envelope_prefix_size) return decode_error::truncated;
  // The version comes before all else: a later version may have given the rest another meaning.
  const std::uint8_t version = bytes[version_at];
  const std::uint8_t reader = bytes[oldest_reader_at];
  const bool is_readable =
      version >= oldest_version && reader != 0 && reader <= version && reader <= protocol_version;
  if (!is_readable) return decode_error::wrong_version;
  if ((bytes[flags_at] & ~sealed_flag) != 0) return decode_error::bad_field;
  const std::size_t id_size = bytes[id_size_at];
  if (id_size == 0) return decode_error::bad_field;
  if (id_size > swim::cluster_id_max) return decode_error::over_limit;
  std::size_t payload_size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    payload_size = payload_size << 8 | bytes[payload_size_at + i];
  }
  if (payload_size > packet_max) return decode_error::over_limit;
  total_size = envelope_prefix_size + id_size + payload_size;
  return decode_error::none;
}

decode_error read_envelope(bytes_view bytes, envelope& out) noexcept {
  std::size_t total_size = 0;
  if (const auto error = read_prefix(bytes, total_size); error != decode_error::none) return error;
  if (bytes.size() < total_size) return decode_error::truncated;
  if (bytes.size() > total_size) return decode_error::trailing_bytes;
  const std::size_t id_size = bytes[id_size_at];
  const auto id = bytes.subspan(envelope_prefix_size, id_size);
  out.sealed = (bytes[flags_at] & sealed_flag) != 0;
  out.cluster_id = {reinterpret_cast<const char*>(id.data()), id.size()};
  out.header = bytes.first(envelope_prefix_size + id_size);
  out.payload = bytes.subspan(envelope_prefix_size + id_size);
  return decode_error::none;
}

void append_header(std::string_view cluster_id, bool sealed, std::size_t payload_size,
                   std::vector<std::uint8_t>& out) {
  LIFERING_CHECK(!cluster_id.empty() && cluster_id.size() <= swim::cluster_id_max);
  LIFERING_CHECK(payload_size <= packet_max);
  out.insert(out.end(), magic.begin(), magic.end());
  out.push_back(protocol_version);
  out.push_back(oldest_reader);
  out.push_back(sealed ? sealed_flag : 0);
  out.push_back(static_cast<std::uint8_t>(cluster_id.size()));
  for (unsigned shift = 32; shift != 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(payload_size >> (shift - 8)));
  }
  out.insert(out.end(), cluster_id.begin(), cluster_id.end());
}

}  // namespace lifering::wire
