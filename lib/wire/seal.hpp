// The seal: XChaCha20-Poly1305 over a packet's body, with its header as authenticated data.
//
//   payload of a sealed packet:  nonce (24) | ciphertext (as long as the body) | tag (16)
//
// Nonces of 192 bits can be drawn at random for ever: with the 96 bits of other AEADs, 2^32 packets
// under one key are the bound that NIST allows, which a busy cluster sends within days.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/envelope.hpp"
#include "wire/keyring.hpp"

namespace lifering::wire {

inline constexpr std::size_t nonce_size = 24;
inline constexpr std::size_t tag_size = 16;
inline constexpr std::size_t seal_size = nonce_size + tag_size;

/// What sealing adds to a packet: the seal, and the packet's number in its sender, which is a tag
/// and eight bytes.
inline constexpr std::size_t seal_overhead = seal_size + 9;

using seal_nonce = std::array<std::uint8_t, nonce_size>;

/// Fresh from the system's generator. Drawn anew for every packet, so that a process that was
/// forked or a machine that was copied while it ran doesn't use one twice.
seal_nonce random_nonce();

/// Seals in place: `payload` has room for the nonce, then the body, then room for the tag.
void seal_payload(const secret_key& key, const seal_nonce& nonce, bytes_view header,
                  std::span<std::uint8_t> payload);

/// Opens with whichever key fits and overwrites `body`; false if none does, which is all that can
/// be known: a wrong key, a changed bit and a forgery look alike.
bool open_payload(const sealing& with, bytes_view header, bytes_view payload,
                  std::vector<std::uint8_t>& body);

}  // namespace lifering::wire
