// The parameters of a placement: their defaults, their check and their id.
#include <lifering/placement.hpp>

#include "ring/label.hpp"
#include "ring/mix64.hpp"

namespace lifering {

namespace {

constexpr std::uint32_t vnodes_default = 150;
constexpr std::uint32_t vnodes_max = 65536;
constexpr std::uint32_t segments_min = 10;
constexpr std::uint32_t segments_max = 22;
constexpr std::uint32_t cap_max = 10'000;
constexpr std::size_t label_bytes_max = 255;

// Raised whenever a rule changes so that owners change: peers with another revision are refused.
constexpr std::uint64_t revision = 1;

problem bad(std::string text) {
  return {errc::invalid_placement, std::move(text)};
}

}  // namespace

std::string_view to_string(placement_kind kind) noexcept {
  switch (kind) {
    case placement_kind::classic:
      return "classic";
    case placement_kind::mixed:
      return "mixed";
    case placement_kind::slots:
      return "slots";
  }
  return "unknown";
}

std::optional<placement_kind> parse_placement(std::string_view word) noexcept {
  for (const auto kind : {placement_kind::classic, placement_kind::mixed, placement_kind::slots}) {
    if (word == to_string(kind)) {
      return kind;
    }
  }
  return std::nullopt;
}

placement_options placement_options::classic() {
  return {};
}

placement_options placement_options::mixed() {
  placement_options options;
  options.kind = placement_kind::mixed;
  return options;
}

placement_options placement_options::slots() {
  placement_options options;
  options.kind = placement_kind::slots;
  return options;
}

std::optional<problem> placement_options::validate() const {
  using std::to_string;
  if (lifering::to_string(kind) == "unknown") {
    return bad("placement kind " + to_string(static_cast<unsigned>(kind)) +
               " is unknown; use classic, mixed or slots");
  }
  if (vnodes > vnodes_max) {
    return bad("vnodes is " + to_string(vnodes) + "; use 1 to " + to_string(vnodes_max) +
               ", or 0 for " + to_string(vnodes_default));
  }
  if (label.size() > label_bytes_max) {
    return bad("label has " + to_string(label.size()) + " bytes; use at most " +
               to_string(label_bytes_max));
  }
  if (!ring_detail::label_format::parse(label)) {
    return bad("label is \"" + label + "\"; it must hold {node} and {i} exactly once each");
  }
  if (segments < segments_min || segments > segments_max) {
    return bad("segments is " + to_string(segments) + "; use " + to_string(segments_min) + " to " +
               to_string(segments_max) + ", the base-2 logarithm of their number");
  }
  if (cap > cap_max) {
    return bad("cap is " + to_string(cap) + " thousandths; use 0 for none or 1 to " +
               to_string(cap_max));
  }
  if ((hash != nullptr) != (hash_id != 0)) {
    return bad(hash != nullptr
                   ? std::string{"hash_id is 0; a custom hash needs an id of your own choice"}
                   : "hash_id is " + to_string(hash_id) + "; it must be 0 without a custom hash");
  }
  return std::nullopt;
}

std::uint64_t placement_options::id() const noexcept {
  ring_detail::hash64 sum{3};
  sum.add(revision).add(lifering::to_string(kind)).add(hash_id);
  if (kind == placement_kind::slots) {
    sum.add(segments).add(cap);
  } else {
    sum.add(vnodes == 0 ? vnodes_default : vnodes).add(label);
  }
  return sum.value();
}

}  // namespace lifering
