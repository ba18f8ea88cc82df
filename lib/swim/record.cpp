#include "swim/record.hpp"

#include <algorithm>

namespace lifering::swim {
namespace {

constexpr std::uint64_t finalise(std::uint64_t h) noexcept {  // MurmurHash3's 64-bit finaliser
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53u;
  h ^= h >> 33;
  return h;
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : bytes)
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return finalise(h);
}

bool operator==(const record& a, const record& b) noexcept {
  const bool same_metadata =
      a.metadata_hash == b.metadata_hash && (a.metadata_hash != 0 || a.metadata == b.metadata);
  return same_metadata && a.name == b.name && a.epoch == b.epoch &&
         a.incarnation == b.incarnation && a.address == b.address && a.weight == b.weight &&
         a.phase == b.phase && a.zone == b.zone && a.service == b.service &&
         a.broadcasts == b.broadcasts && a.unknown_fields == b.unknown_fields;
}

void hash_metadata(record& of) {
  const bool rides = of.metadata.size() <= metadata_rides_max;
  of.metadata_hash = rides ? 0 : std::max<std::uint64_t>(1, hash_bytes(of.metadata));
}

std::uint64_t life_id(std::string_view name, std::uint64_t epoch) noexcept {
  return digest_of(hash_bytes(name), epoch, 0);
}

std::uint64_t digest_of(std::uint64_t name_hash, std::uint64_t epoch,
                        std::uint64_t incarnation) noexcept {
  const std::uint64_t h = finalise(name_hash ^ (epoch * 0x9e3779b97f4a7c15u));
  return finalise(h ^ (incarnation * 0xc2b2ae3d27d4eb4fu));
}

std::shared_ptr<const member> to_member(const record_ptr& from, std::uint64_t incarnation,
                                        member_state state) {
  if (from->incarnation == incarnation && from->state == state) return from;
  auto result = std::make_shared<member>(*from);
  result->incarnation = incarnation;
  result->state = state;
  return result;
}

}  // namespace lifering::swim
