// Any bytes as a sealed packet, and any bytes as what a holder of the key sealed.
#include <algorithm>
#include <array>
#include <memory>

#include "fuzz/decoding.hpp"
#include "wire/seal.hpp"

namespace lifering::fuzz {
namespace {

wire::key_ptr known_key() {
  std::array<std::uint8_t, wire::secret_key::size> bytes{};
  bytes.fill(0x2a);
  return wire::secret_key::from_bytes(bytes);
}

/// The payload in a sealed envelope, as it is.
void put(bytes_view payload, std::vector<std::uint8_t>& out) {
  out.clear();
  wire::append_header("golden", true, payload.size(), out);
  out.insert(out.end(), payload.begin(), payload.end());
}

/// Seals the body where it stands: room for the nonce before it, for the tag behind it.
void seal(bytes_view body, std::vector<std::uint8_t>& out) {
  std::vector<std::uint8_t> payload(body.size() + wire::seal_size);
  std::copy(body.begin(), body.end(), payload.begin() + wire::nonce_size);
  put(payload, out);
  const std::size_t header_size = out.size() - payload.size();
  static const auto key = known_key();
  wire::seal_payload(*key, wire::seal_nonce{}, bytes_view(out).first(header_size),
                     std::span(out).subspan(header_size));
}

}  // namespace

void run(bytes_view input) {
  static const auto keys =
      std::make_shared<wire::keyring>(wire::seal_mode::require, std::vector{known_key()});
  static wire::codec with("golden", keys);
  static wire::codec plain("golden");
  static swim::packet packet;
  static std::vector<std::uint8_t> bytes;
  if (input.size() > 65'536) return;

  // Nothing can be guessed: whatever isn't the one packet in the corpus doesn't open.
  put(input, bytes);
  const auto guessed = with.decode(bytes, packet);
  if (guessed == wire::decode_error::none) check_accepted(plain, packet);

  seal(input, bytes);
  const auto error = with.decode(bytes, packet);
  LIFERING_CHECK(error != wire::decode_error::cannot_open);
  LIFERING_CHECK(error != wire::decode_error::not_sealed);
  if (error == wire::decode_error::none) {
    LIFERING_CHECK(with.last_receipt().sealed);
    LIFERING_CHECK(with.decode(bytes, packet) == wire::decode_error::repeated);
    check_accepted(plain, packet);
  }
}

}  // namespace lifering::fuzz
