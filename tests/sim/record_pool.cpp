#include "sim/record_pool.hpp"

#include <charconv>
#include <utility>

#include "ring/mix64.hpp"

namespace lifering::sim {
namespace {

using ring_detail::hash64;
using ring_detail::mix64;

constexpr std::string_view name_prefix = "node-";

std::uint64_t content_of(const swim::record& from) {
  hash64 hash(101);
  hash.add(from.name).add(from.epoch);
  hash.add(std::string_view(reinterpret_cast<const char*>(from.address.bytes.data()),
                            from.address.bytes.size()));
  hash.add(from.address.port).add(from.weight.thousandths());
  hash.add(static_cast<std::uint64_t>(from.phase));
  hash.add(from.zone).add(from.service).add(from.metadata).add(*from.unknown_fields);
  return hash.value();
}

std::uint64_t share_of(const swim::record& from) {
  const ring_node node = ring_node_of(from);
  return hash64(102).add(node.name).add(node.weight.thousandths()).add(node.zone).value();
}

}  // namespace

std::string name_of(node_id node) {
  return std::string(name_prefix) + std::to_string(node);
}

node_id node_of(std::string_view name) noexcept {
  if (!name.starts_with(name_prefix)) return 0;
  name.remove_prefix(name_prefix.size());
  node_id node = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), node);
  if (error != std::errc{} || end != name.data() + name.size() || node > node_limit) return 0;
  return node;
}

ring_node ring_node_of(const swim::record& from) {
  const bool serves = from.phase == member_phase::serving;
  return {from.name, serves ? from.weight : *weight::from_thousandths(0), from.zone};
}

record_pool::record_pool(conflict on_conflict) : on_conflict_(std::move(on_conflict)) {}

std::size_t record_pool::key_hash::operator()(const key& value) const noexcept {
  return mix64(mix64(value.epoch + value.node) ^ value.incarnation) + value.lacks_metadata;
}

const pooled& record_pool::intern(const swim::record_ptr& given) {
  const node_id node = node_of(given->name);
  const auto found =
      by_key_.find({node, given->epoch, given->incarnation, given->lacks_metadata()});
  if (found == by_key_.end()) return add(given, node);
  const pooled& held = entries_[found->second];
  if (held.value == given || *held.value == *given) return held;
  on_conflict_(*held.value, *given);
  return add(given, node);
}

const pooled& record_pool::add(const swim::record_ptr& given, node_id node) {
  const auto index = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({given, node, index, content_of(*given), share_of(*given)});
  by_key_[{node, given->epoch, given->incarnation, given->lacks_metadata()}] = index;
  return entries_.back();
}

}  // namespace lifering::sim
