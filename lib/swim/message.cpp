#include "swim/message.hpp"

namespace lifering::swim {
namespace {

// Protobuf's costs: a tag takes one byte up to field number 15, a 64-bit varint at most ten, a
// fixed64 eight; a length prefix takes up to three bytes below 2 MiB.
constexpr std::size_t tag = 1;
constexpr std::size_t varint64 = tag + 10;
constexpr std::size_t varint32 = tag + 5;
constexpr std::size_t fixed64 = tag + 8;
constexpr std::size_t small = tag + 1;
constexpr std::size_t prefix = tag + 3;

constexpr std::size_t bytes(std::string_view value) noexcept {
  return value.empty() ? 0 : prefix + value.size();
}

// An endpoint: 16 address bytes with their prefix, a port, a scope.
constexpr std::size_t endpoint_bound = prefix + (prefix + 16) + (tag + 3) + varint32;

struct body_bound {
  std::size_t operator()(const std::monostate&) const noexcept { return 0; }
  std::size_t operator()(const ping& value) const noexcept {
    return prefix + varint64 + bytes(value.target) + varint64;
  }
  std::size_t operator()(const ping_request& value) const noexcept {
    return prefix + varint64 + bytes(value.target) + varint64 + endpoint_bound + varint32;
  }
  std::size_t operator()(const ack&) const noexcept { return prefix + varint64; }
  std::size_t operator()(const nack&) const noexcept { return prefix + varint64; }
  std::size_t operator()(const sync_request&) const noexcept { return prefix + 2 * small; }
  std::size_t operator()(const sync_reply&) const noexcept {
    return prefix + varint64 + endpoint_bound;
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
    return prefix + varint64 + bytes(value.payload);
  }
};

}  // namespace

void packet::clear() {
  from.name.clear();
  from = sender{std::move(from.name)};
  body = std::monostate{};
  updates.clear();
  broadcasts.clear();
}

std::size_t size_bound(const record& value) noexcept {
  return prefix + bytes(value.name) + 2 * varint64 + endpoint_bound + varint32 + small +
         bytes(value.zone) + bytes(value.service) + bytes(value.metadata) +
         value.unknown_fields.size();
}

std::size_t size_bound(const update& value) noexcept {
  if (value.kind == update_kind::alive) {
    return prefix + small + (value.subject ? size_bound(*value.subject) : 0) + varint64;
  }
  return prefix + small + bytes(value.subject_name()) + 2 * varint64 + bytes(value.accuser) +
         varint64 + small + varint32;
}

std::size_t size_bound(const broadcast& value) noexcept {
  return prefix + bytes(value.origin) + 2 * varint64 + bytes(value.payload);
}

std::size_t size_bound(const view_row& value) noexcept {
  return prefix + (value.subject ? size_bound(*value.subject) : 0) + varint64 + small;
}

std::size_t size_bound(const sender& value) noexcept {
  return prefix + bytes(value.name) + 2 * varint64 + 3 * fixed64 + varint64;
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
