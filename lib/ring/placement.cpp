// The parameters of a placement: their defaults, their check and their id.
#include <lifering/placement.hpp>

#include <algorithm>
#include <lifering/ring.hpp>

#include "base/text.hpp"
#include "ring/foreign.hpp"
#include "ring/label.hpp"
#include "ring/mix64.hpp"
#include "ring/point_table.hpp"

namespace lifering {

namespace {

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

/// What is set for a kind that isn't the chosen one would silently do nothing.
std::optional<problem> find_useless(const placement_options& given) {
  using std::to_string;
  const placement_options plain;
  const bool has_slots = given.kind == placement_kind::slots;
  std::string what;
  if (has_slots && given.vnodes != plain.vnodes) what = "vnodes is " + to_string(given.vnodes);
  if (has_slots && given.label != plain.label) what = "label is \"" + given.label + '"';
  if (!has_slots && given.segments != plain.segments) {
    what = "segments is " + to_string(given.segments);
  }
  if (!has_slots && given.cap != plain.cap) {
    what = "cap is " + to_string(given.cap) + " thousandths";
  }
  if (what.empty()) return std::nullopt;
  return bad(what + ", of no use to " + std::string{lifering::to_string(given.kind)} +
             (has_slots ? "; set segments and cap, or choose classic or mixed"
                        : "; set vnodes and label, or choose slots"));
}

std::vector<const ring_node*> sorted(std::span<const ring_node> nodes) {
  std::vector<const ring_node*> pointers;
  for (const ring_node& node : nodes) {
    pointers.push_back(&node);
  }
  std::sort(pointers.begin(), pointers.end(),
            [](const ring_node* a, const ring_node* b) { return a->name < b->name; });
  return pointers;
}

bool is_number(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Where the number stands right beside the name, a name that is another one with digits at that
/// side has labels of that one: point 1 of "12" is point 11 of "2" with {i}{node}.
std::optional<std::string> ambiguity(std::string_view label,
                                     std::span<const ring_node* const> nodes) {
  const bool number_first = label.find("{i}{node}") != label.npos;
  if (!number_first && label.find("{node}{i}") == label.npos) {
    return std::nullopt;
  }
  const auto by_name = [](const ring_node* a, std::string_view name) { return a->name < name; };
  for (const ring_node* node : nodes) {
    const std::string_view name = node->name;
    for (std::size_t digits = 1; digits < name.size(); ++digits) {
      const auto cut = number_first ? digits : name.size() - digits;
      if (!is_number(number_first ? name.substr(0, cut) : name.substr(cut))) {
        break;
      }
      const std::string_view rest = number_first ? name.substr(cut) : name.substr(0, cut);
      const auto at = std::lower_bound(nodes.begin(), nodes.end(), rest, by_name);
      if (at != nodes.end() && (*at)->name == rest) {
        return "label is " + base::quoted(label) + ", in which " + base::quoted(node->name) +
               " and " + base::quoted(rest) +
               " have labels in common: put something between {node} and {i}";
      }
    }
  }
  return std::nullopt;
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
    case placement_kind::foreign:
      return "foreign";
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

std::string_view foreign_placement::text() const noexcept {
  return rule_ == nullptr ? std::string_view{} : rule_->text();
}

std::optional<problem> placement_options::validate() const {
  using std::to_string;
  if (lifering::to_string(kind) == "unknown") {
    return bad("placement kind " + to_string(static_cast<unsigned>(kind)) +
               " is unknown; use classic, mixed or slots");
  }
  if ((kind == placement_kind::foreign) != static_cast<bool>(foreign)) {
    return bad(foreign ? "a foreign placement is given for the kind " +
                             std::string{lifering::to_string(kind)} + "; use kind foreign"
                       : std::string{"the kind is foreign and no foreign placement is given; make "
                                     "one with <lifering/compat.hpp>"});
  }
  if (foreign) {
    placement_options plain;
    plain.kind = kind;
    plain.foreign = foreign;
    return *this == plain ? foreign.rule()->validate()
                          : bad("vnodes, label, segments, cap and hash are for classic, mixed and "
                                "slots; " +
                                text() + " has options of its own, so leave them as they are");
  }
  if (vnodes > vnodes_max) {
    return bad("vnodes is " + to_string(vnodes) + "; use 1 to " + to_string(vnodes_max) +
               ", or 0 for " + to_string(ring_detail::vnodes_default));
  }
  if (label.size() > label_bytes_max) {
    return bad("label has " + to_string(label.size()) + " bytes; use at most " +
               to_string(label_bytes_max));
  }
  if (!ring_detail::label_format::parse(label)) {
    return bad("label is " + base::quoted(label) +
               "; it must hold {node} and {i} exactly once each");
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
  return find_useless(*this);
}

std::optional<problem> placement_options::validate(std::span<const ring_node> nodes) const {
  if (auto found = validate()) {
    return found;
  }
  if (foreign) {
    return foreign.rule()->refuse(sorted(nodes));
  }
  if (kind == placement_kind::slots) {
    return std::nullopt;
  }
  const std::uint32_t each = ring_detail::vnodes_of(*this);
  std::uint64_t points = 0;
  for (const ring_node& node : nodes) {
    points += ring_detail::points_of(each, node.weight);
  }
  if (points <= ring_detail::points_max) {
    return std::nullopt;
  }
  using std::to_string;
  return problem{errc::too_many_points,
                 "vnodes is " + to_string(each) + ", with which these weights make " +
                     to_string(points) + " points, which would fill memory; a ring takes up to " +
                     to_string(ring_detail::points_max) + ", so use fewer or smaller weights"};
}

std::vector<std::string> placement_options::warnings(std::span<const ring_node> nodes) const {
  std::vector<std::string> found;
  if (foreign) {
    foreign.rule()->warn(sorted(nodes), found);
  } else if (kind != placement_kind::slots) {
    if (auto text = ambiguity(label, sorted(nodes))) {
      found.push_back(*std::move(text));
    }
  }
  return found;
}

std::string placement_options::text() const {
  return std::string{foreign ? foreign.text() : lifering::to_string(kind)};
}

std::uint64_t placement_options::id() const noexcept {
  ring_detail::hash64 sum{3};
  sum.add(revision).add(lifering::to_string(kind)).add(hash_id);
  if (kind == placement_kind::foreign) {
    sum.add(foreign.text());
  } else if (kind == placement_kind::slots) {
    sum.add(segments).add(cap);
  } else {
    sum.add(ring_detail::vnodes_of(*this)).add(label);
  }
  return sum.value();
}

}  // namespace lifering
