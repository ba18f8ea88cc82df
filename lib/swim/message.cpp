#include "swim/message.hpp"

#include <bit>
#include <utility>

namespace lifering::swim {
namespace {

// Protobuf's costs. A tag takes one byte, since all field numbers are below 16; a field of value
// zero or without bytes isn't written at all. What belongs to one item is counted exactly, for
// every byte here is one that no other news can use. What a packet has once is counted at its
// largest: it may still change between the counting and the sending.
constexpr std::size_t tag = 1;
constexpr std::size_t any_varint64 = tag + 10;
constexpr std::size_t any_varint32 = tag + 5;
constexpr std::size_t any_fixed64 = tag + 8;
constexpr std::size_t small = tag + 1;   // A flag or an enumeration.
constexpr std::size_t prefix = tag + 3;  // Before up to 2 MiB.

constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  return static_cast<std::size_t>(std::bit_width(value | 1) + 6) / 7;
}

constexpr std::size_t number(std::uint64_t value) noexcept {
  return value == 0 ? 0 : tag + varint_size(value);
}

constexpr std::size_t flag(bool value) noexcept {
  return value ? small : 0;
}

/// A message inside another one, also if it is empty.
constexpr std::size_t nested(std::size_t size) noexcept {
  return tag + varint_size(size) + size;
}

constexpr std::size_t bytes(std::string_view value) noexcept {
  return value.empty() ? 0 : nested(value.size());
}

std::size_t address(const endpoint& value) noexcept {
  return nested(nested(value.is_v4() ? 4 : 16) + number(value.port) + number(value.scope));
}

std::size_t content(const record& value) noexcept {
  return bytes(value.name) + number(value.epoch) + number(value.incarnation) +
         address(value.address) + number(value.weight.thousandths()) +
         flag(value.phase != member_phase::serving) + bytes(value.zone) + bytes(value.service) +
         (value.metadata_hash == 0 ? bytes(value.metadata) : 1 + any_fixed64) +
         number(value.broadcasts) + value.unknown_fields->size();
}

constexpr std::size_t packed_fixed64(std::size_t count) noexcept {
  return prefix + 8 * count;
}

struct body_bound {
  std::size_t operator()(const std::monostate&) const noexcept { return 0; }
  std::size_t operator()(const ping& value) const noexcept {
    return prefix + any_varint64 + bytes(value.target) + number(value.target_epoch);
  }
  std::size_t operator()(const ping_request& value) const noexcept {
    return prefix + any_varint64 + bytes(value.target) + number(value.target_epoch) +
           address(value.target_address) + any_varint32;
  }
  std::size_t operator()(const ack&) const noexcept { return prefix + any_varint64; }
  std::size_t operator()(const nack&) const noexcept { return prefix + any_varint64; }
  std::size_t operator()(const sync_request&) const noexcept { return prefix + 2 * small; }
  std::size_t operator()(const sync_reply& value) const noexcept {
    return prefix + any_varint64 + address(value.seen_address);
  }
  std::size_t operator()(const view_rows& value) const noexcept {
    std::size_t sum = prefix + small;
    for (const auto& row : value.rows)
      sum += size_bound(row);
    return sum;
  }
  std::size_t operator()(const refusal& value) const noexcept {
    return prefix + small + bytes(value.detail);
  }
  std::size_t operator()(const user_message& value) const noexcept {
    return prefix + any_varint64 + bytes(value.payload);
  }
  std::size_t operator()(const broadcast_pull& value) const noexcept {
    return tag + prefix + bytes(value.origin) + 2 * any_varint64;  // the field number takes two
  }
  std::size_t operator()(const metadata_pull& value) const noexcept {
    return tag + prefix + bytes(value.name) + any_varint64 + any_fixed64;
  }
  std::size_t operator()(const metadata_push& value) const noexcept {
    return tag + prefix + any_fixed64 + bytes(value.bytes);
  }
  std::size_t operator()(const view_compare& value) const noexcept {
    return prefix + packed_fixed64(value.buckets.size());
  }
  std::size_t operator()(const view_summary& value) const noexcept {
    std::size_t sum = prefix + any_varint32 + prefix;
    for (const std::uint32_t bucket : value.buckets)
      sum += varint_size(bucket);
    return sum + packed_fixed64(value.names.size()) + packed_fixed64(value.digests.size());
  }
  std::size_t operator()(const view_delta& value) const noexcept {
    std::size_t sum = prefix + packed_fixed64(value.wanted.size());
    for (const auto& row : value.rows)
      sum += size_bound(row);
    return sum;
  }
};

}  // namespace

void packet::clear() {
  from.name.clear();
  from = sender{std::move(from.name)};
  if (auto* asked = std::get_if<ping>(&body)) {
    spare = std::move(asked->target);
  } else if (auto* request = std::get_if<ping_request>(&body)) {
    spare = std::move(request->target);
  }
  body = std::monostate{};
  if (updates.capacity() > updates_kept) updates = std::vector<update>();
  updates.clear();
  if (broadcasts.capacity() > updates_kept) broadcasts = std::vector<broadcast>();
  broadcasts.clear();
}

void packet::ask(std::uint64_t sequence, std::string_view target, std::uint64_t epoch) {
  spare.assign(target);
  body = ping{sequence, std::move(spare), epoch};
}

void packet::ask_helper(std::uint64_t sequence, const record& target, std::uint32_t timeout_ms) {
  spare.assign(target.name);
  body = ping_request{sequence, std::move(spare), target.epoch, target.address, timeout_ms};
}

std::size_t size_bound(const record& value) noexcept {
  return nested(content(value));
}

std::size_t size_bound(const update& value) noexcept {
  if (value.kind == update_kind::alive) {
    return nested(value.subject ? size_bound(*value.subject) : 0);
  }
  return nested(small + bytes(value.subject_name()) + number(value.subject_epoch()) +
                number(value.incarnation) + bytes(value.accuser) + number(value.accuser_epoch) +
                flag(value.refused) + number(value.witnesses) + number(value.failures));
}

std::size_t size_bound(const broadcast& value) noexcept {
  return nested(bytes(value.origin) + number(value.origin_epoch) + number(value.sequence) +
                bytes(value.payload));
}

std::size_t size_bound(const view_row& value) noexcept {
  return nested((value.subject ? size_bound(*value.subject) : 0) + number(value.incarnation) +
                flag(value.state != member_state::alive) + number(value.failures) +
                number(value.age_seconds));
}

std::size_t size_bound(const sender& value) noexcept {
  return prefix + bytes(value.name) + 3 * any_varint64 + 3 * any_fixed64;
}

std::size_t size_bound(const body& value) noexcept {
  return std::visit(body_bound{}, value);
}

std::size_t size_bound(const packet& value) noexcept {
  std::size_t sum = size_bound(value.from) + size_bound(value.body);
  for (const auto& item : value.updates)
    sum += size_bound(item);
  for (const auto& item : value.broadcasts)
    sum += size_bound(item);
  return sum;
}

}  // namespace lifering::swim
