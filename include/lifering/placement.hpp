// How keys are placed on nodes: the rule and its parameters.
//
// All peers that are to agree on owners need the same placement; its id() says whether they have
// it. Each placement is a pure function of the set {(name, weight, zone)} of nodes: the order of
// joins, history and the machine don't matter, and no floating point takes part.
#pragma once

#include <cstdint>
#include <lifering/config.hpp>
#include <lifering/error.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lifering {

struct ring_node;

namespace ring_detail {
class foreign_rule;
}

/// Our three rules, and those of other systems. Weighted nodes own shares in proportion to their
/// weights in each of our own, and a change of one node's weight moves keys only to that node or
/// from it (not so with a cap).
enum class placement_kind : std::uint8_t {
  /// The ring that most programs have: each node puts `vnodes` points on a circle of 2^32 at the
  /// hash of its label ("name#0", "name#1", ...); a key belongs to the first point at or after its
  /// own hash. Choose it to agree with other programs, with the very names that those use (often
  /// `ip:port`). Shares are uneven: the busiest of 100 nodes easily gets twice its share, since
  /// CRC-32 is linear.
  classic,

  /// The same with mix32() over the hash of points and of keys: shares spread as those of random
  /// points do. With 150 points the busiest of 100 nodes gets about a quarter more than its share.
  mixed,

  /// 2^segments equal segments of the circle, each owned by the node that scores highest for it
  /// (weighted rendezvous hashing). A lookup is a hash and one table read; shares are within a few
  /// per cent, or under a chosen cap; a join touches only the segments that it wins, a leave only
  /// those that were held. The default of a cluster.
  slots,

  /// The rule of another system, so that its owners and ours are the same: nginx, HAProxy, ketama,
  /// Envoy, Redis Cluster, Kafka. Made by <lifering/compat.hpp>, which says where such a rule keeps
  /// less than what ours promise.
  foreign,
};

/// "classic", "mixed", "slots" or "foreign".
LIFERING_API std::string_view to_string(placement_kind kind) noexcept;

/// The inverse of to_string() for our own three; nothing for any other word.
LIFERING_API std::optional<placement_kind> parse_placement(std::string_view word) noexcept;

/// A hash of bytes to 32 bits. Called from any thread that looks up a key; must be pure and must
/// not throw.
using hash_function = std::uint32_t (*)(std::string_view bytes);

/// Another system's rule with its parameters: an immutable value, which <lifering/compat.hpp> makes
/// and describes. Copying is cheap; copies may be used from any threads.
class LIFERING_API foreign_placement {
 public:
  foreign_placement() = default;  ///< None.
  explicit foreign_placement(std::shared_ptr<const ring_detail::foreign_rule> rule) noexcept
      : rule_(std::move(rule)) {}

  explicit operator bool() const noexcept { return rule_ != nullptr; }

  /// The rule and the parameters that aren't defaults, as "haproxy:hash=crc32": what
  /// `compat::parse` reads back. Empty for none.
  std::string_view text() const noexcept;

  const ring_detail::foreign_rule* rule() const noexcept { return rule_.get(); }

  friend bool operator==(const foreign_placement& a, const foreign_placement& b) noexcept {
    return a.text() == b.text();
  }

 private:
  std::shared_ptr<const ring_detail::foreign_rule> rule_;
};

/// A placement with its parameters: a plain struct with defaults. Start from one of the three
/// functions below and change what differs. What only another kind uses stays at its default;
/// validate() refuses the rest, as it would do nothing.
///
/// By itself the struct is `classic`, as is a hash_ring; a cluster's default is `slots()`.
struct LIFERING_API placement_options {
  placement_kind kind = placement_kind::classic;

  /// `classic` and `mixed`: points of a node of weight 1; others have points in proportion to their
  /// weight, at least one. 0 means 150; at most 65536. More points even out `mixed` shares with the
  /// square root of their number, at 4 bytes each; `classic` gains little from them.
  std::uint32_t vnodes = 0;

  /// `classic` and `mixed`: what is hashed for point i of a node; {node} and {i} stand for the name
  /// and the decimal number from 0. Each must occur exactly once; other text is kept; at most 255
  /// bytes. Other programs write `{node}-{i}` or, like groupcache, `{i}{node}`. The last is
  /// ambiguous: point 1 of "12.0.0.1:80" and point 11 of "2.0.0.1:80" have one label and so one
  /// point, which the smaller name owns.
  std::string label = "{node}#{i}";

  /// `slots`: log2 of the number of segments, 10 to 22. Memory is 2 bytes a segment (4 above 65,535
  /// nodes); more segments make shares more even and changes slower. Choose once for the largest
  /// size to come, some 250 segments a node or more: it can't follow the number of members, or a
  /// growing cluster would reshuffle its keys.
  std::uint32_t segments = 18;

  /// `slots`: no node owns more than its fair share and this many thousandths of it (50: at most
  /// 1.05 times the fair share, rounded to whole segments). 0: no cap; at most 10,000. A cap trades
  /// movement and build time for evenness: see the table in the README.
  std::uint32_t cap = 0;

  /// Replaces CRC-32 for keys, and for the points of `classic` and `mixed`. Null: CRC-32.
  hash_function hash = nullptr;

  /// Tells peers which custom hash it is, as code can't be compared. Required (not 0) with a custom
  /// hash, 0 without; take any random number and keep it.
  std::uint64_t hash_id = 0;

  /// `foreign`: whose rule.
  foreign_placement foreign{};

  static placement_options classic();  ///< 150 points a node, labels `{node}#{i}`.
  static placement_options mixed();    ///< 150 points a node, mixed.
  static placement_options slots();    ///< 2^18 segments, no cap.

  /// What is wrong, in one sentence that names the value and what would be right, or nothing.
  std::optional<problem> validate() const;

  /// The same, or what these nodes have that the placement can't honour: more points than a ring
  /// takes (67,108,864, which are 256 MB), and for another system's a weight, say, that it can't
  /// have. A ring refuses too many points; anything else it takes all the same, and then does what
  /// the header of the placement says, as a cluster can't refuse what its members are.
  std::optional<problem> validate(std::span<const ring_node> nodes) const;

  /// What would surprise whoever uses the placement with these nodes, a sentence each: labels that
  /// say two things, nodes that get no key.
  std::vector<std::string> warnings(std::span<const ring_node> nodes) const;

  /// The placement in a word or, for another system's, as foreign_placement::text().
  std::string text() const;

  /// 64 bits over the rule and every parameter that it uses, equal exactly when two placements
  /// place alike. Enters the ring's fingerprint and rides in every packet of a cluster.
  std::uint64_t id() const noexcept;

  friend bool operator==(const placement_options&, const placement_options&) = default;
};

}  // namespace lifering
