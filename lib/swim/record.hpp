// What a member says of itself, as one immutable value that tables, queues and packets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <lifering/member.hpp>
#include <lifering/weight.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/seldom.hpp"

namespace lifering::swim {

/// One claim of a member about itself: everything that an `alive` message carries. A change of any
/// field comes with a higher incarnation, so (name, epoch, incarnation) identifies the content.
///
/// It has the form that the application sees, so that there is one copy of each member; `state`
/// stays `alive`, since that is what it says of itself.
struct record : member {
  /// Of metadata that is too large to ride in gossip: its hash, by which it is pulled. 0 of
  /// metadata that rides.
  std::uint64_t metadata_hash = 0;
  std::uint64_t broadcasts = 0;  ///< Number of this life's last broadcast.
  /// Encoded fields that a later protocol version added; kept and passed on unchanged.
  base::seldom<std::string> unknown_fields;

  /// The metadata is known by its hash only so far.
  bool lacks_metadata() const noexcept { return metadata_hash != 0 && metadata.empty(); }

  /// Equal claims, whether or not both have pulled their metadata.
  friend bool operator==(const record& a, const record& b) noexcept;
};

/// Metadata up to this size rides in gossip; larger one travels by hash and is pulled.
inline constexpr std::size_t metadata_rides_max = 512;

/// Sets the hash that the record's metadata wants.
void hash_metadata(record& of);

using record_ptr = std::shared_ptr<const record>;

/// FNV-1a with a finaliser, 64 bits: for indexes and digests, the same on every machine.
std::uint64_t hash_bytes(std::string_view bytes) noexcept;

/// A member's part of the view digest: a function of name (by its hash), epoch and incarnation
/// alone.
std::uint64_t digest_of(std::uint64_t name_hash, std::uint64_t epoch,
                        std::uint64_t incarnation) noexcept;

/// A life in 64 bits, for tables that hold something of each.
std::uint64_t life_id(std::string_view name, std::uint64_t epoch) noexcept;

/// The member as it is believed to be: the record itself, unless something newer is known of it
/// than what it says.
std::shared_ptr<const member> to_member(const record_ptr& from, std::uint64_t incarnation,
                                        member_state state);

// Epochs. A life's epoch is a generation with random low bits, so that two processes that start
// under one name without knowing of each other still get different epochs.

inline constexpr unsigned epoch_salt_bits = 16;

constexpr std::uint64_t generation_of(std::uint64_t epoch) noexcept {
  return epoch >> epoch_salt_bits;
}

constexpr std::uint64_t make_epoch(std::uint64_t generation, std::uint64_t salt) noexcept {
  return (generation << epoch_salt_bits) | (salt & ((1u << epoch_salt_bits) - 1));
}

/// Claims further than this beyond what is held for a name are refused, so that one forged or
/// corrupt packet can't put a name out of everybody's reach.
inline constexpr std::uint64_t generation_window = std::uint64_t{1} << 24;
inline constexpr std::uint64_t incarnation_window = std::uint64_t{1} << 24;

}  // namespace lifering::swim
