// The ring: which node owns a key. Usable alone, without a cluster.
//
//     lifering::hash_ring ring;                       // 150 points a node, CRC-32
//     ring.add({"10.0.0.1:6379"});
//     ring.add({"10.0.0.2:6379"});
//
//     auto view = ring.view();                        // 2 ns, no lock
//     if (const auto* node = view.owner("user:12345")) send_to(node->name);
//
// Three classes read one immutable state: `ring_view` pins it for the moment (cheapest, for the
// path of a request), `ring_snapshot` owns it for as long as you like, and both offer the questions
// of `ring_table`. `hash_ring` publishes a new state for each change, whole, by one atomic step.
//
// Readers never wait: taking and releasing a view takes no lock, does no read-modify-write on
// shared memory and allocates nothing, but for the first view of a thread, which registers the
// thread, and for the ninth view that a thread holds at once. Taking a view tries again only when a
// publication fell between its two loads. A reader that sleeps inside a view holds up nobody and
// pins that one state; memory is bounded by one state for each view held.
//
// Threads may come and go; a thread's exit gives its registration to the next. After fork(), the
// child may read, change and destroy the ring if no other thread was inside a change when it
// forked; states that other threads had pinned stay allocated in the child as long as the ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <lifering/config.hpp>
#include <lifering/error.hpp>
#include <lifering/placement.hpp>
#include <lifering/weight.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace lifering {

namespace ring_detail {
class snapshot;
class ring_core;
}  // namespace ring_detail

/// A node of the ring, all that decides who owns what.
struct ring_node {
  std::string name;           ///< 1 to 255 bytes, any values; what the ring hashes.
  lifering::weight weight{};  ///< Its share against the others; 0 owns nothing.
  std::string zone{};         ///< Failure domain, up to 64 bytes, may be empty.

  friend bool operator==(const ring_node&, const ring_node&) = default;
};

/// Says of a node whether to pass it over. Refers to a callable `bool(const ring_node&)`, which
/// must outlive the call that it is given to; it is called from within that call only.
class node_filter {
 public:
  template <class Skip>
  requires std::is_invocable_r_v<bool, Skip&, const ring_node&> &&
      (!std::is_same_v<std::remove_cvref_t<Skip>, node_filter>)
          node_filter(Skip&& skip) noexcept  // NOLINT: implicit, so that a lambda can be passed.
      : context_(const_cast<void*>(static_cast<const void*>(std::addressof(skip)))),
        call_([](void* context, const ring_node& node) -> bool {
          return (*static_cast<std::remove_reference_t<Skip>*>(context))(node);
        }) {}

  bool skips(const ring_node& node) const { return call_(context_, node); }

 private:
  void* context_;
  bool (*call_)(void*, const ring_node&);
};

/// The current load of a node, for `ring_table::pick`. As node_filter, with
/// `std::uint64_t(const ring_node&)`.
class node_load {
 public:
  template <class Load>
  requires std::is_invocable_r_v<std::uint64_t, Load&, const ring_node&> &&
      (!std::is_same_v<std::remove_cvref_t<Load>, node_load>)
          node_load(Load&& load) noexcept  // NOLINT: implicit, so that a lambda can be passed.
      : context_(const_cast<void*>(static_cast<const void*>(std::addressof(load)))),
        call_([](void* context, const ring_node& node) -> std::uint64_t {
          return (*static_cast<std::remove_reference_t<Load>*>(context))(node);
        }) {}

  std::uint64_t of(const ring_node& node) const { return call_(context_, node); }

 private:
  void* context_;
  std::uint64_t (*call_)(void*, const ring_node&);
};

class ring_diff;
class ring_snapshot;

/// The questions that can be asked of one state of a ring. All answers of one object are from the
/// same state; every pointer to a node that it returns lives as long as the object (or any other
/// that holds the same state).
///
/// Const, and safe from any number of threads. Wait-free. Unless a function says otherwise it
/// allocates nothing and doesn't throw.
class LIFERING_API ring_table {
 public:
  // Who owns a key.

  /// The owner of a key, or null: an empty key has no owner, and nobody owns anything in a ring
  /// without nodes of positive weight. Constant time, but for circles on which very many points
  /// meet: the hash of the key, two reads of a large table (classic, mixed) or one (slots), and one
  /// of the list of nodes.
  const ring_node* owner(std::string_view key) const noexcept;

  /// The owners of many keys, `out[i]` for `keys[i]`: faster than one by one from 8 keys on, as
  /// reads overlap. `out` must be as long as `keys` (checked).
  void owner(std::span<const std::string_view> keys,
             std::span<const ring_node*> out) const noexcept;

  /// A key's place on the circle of 2^32: its CRC-32 or custom hash, mixed in `mixed` and `slots`.
  /// In a foreign placement, the other system's hash or slot as a place; of a 64-bit hash the upper
  /// half, moved a step within this very state where that half alone doesn't tell the owner.
  std::uint32_t place(std::string_view key) const noexcept;

  /// The owner of a place, for callers that keep hashes. `owner_at(place(key)) == owner(key)` for
  /// every key but the empty one, which has no owner but, where other systems give it one, a place.
  const ring_node* owner_at(std::uint32_t place) const noexcept;

  /// Whether the node of that name owns the key.
  bool owns(std::string_view name, std::string_view key) const noexcept;

  // Who holds the replicas.

  /// The first n distinct nodes in the key's preference order, fewer if the ring has fewer; none
  /// for an empty key. The first is `owner(key)`; the list for n is a prefix of the list for n + 1.
  ///
  /// Preference is clockwise order (classic, mixed) or order of score (slots). With zones, nodes
  /// that bring a new zone come first, in that order, and the rest follows; nodes without a zone
  /// count as one zone. Without zones and without a cap, when the first node leaves, the list
  /// becomes what it was without that node: the second takes over. With zones the second may be
  /// another, as the first's zone becomes free; with a cap the owner comes first, though it may not
  /// be the highest score, and where its keys go is decided by the capacity of others too.
  ///
  /// `slots` take time in proportion to the nodes; `classic` and `mixed` to the points passed; with
  /// zones, each node passed is compared with each zone used. Writes to `out` and returns how many;
  /// allocates only when more than sixteen nodes must be looked at, for a long list or for rare
  /// zones.
  std::size_t owners(std::string_view key, std::span<const ring_node*> out) const;

  /// The same without the nodes that the filter skips, for a next choice that passes over members
  /// known to be bad, without another ring.
  std::size_t owners(std::string_view key, std::span<const ring_node*> out, node_filter skip) const;

  /// The same as a vector.
  std::vector<const ring_node*> owners(std::string_view key, std::size_t n) const;
  std::vector<const ring_node*> owners(std::string_view key, std::size_t n, node_filter skip) const;

  /// Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam 2018): the first node
  /// in the order of owners() whose load is below `factor` thousandths of its fair share of
  /// `total + 1`, or null where the key has no owner. `factor` is above 1000 (checked; 1250: nobody
  /// gets more than 1.25 times its share, rounded up; lower is more even and moves more keys off
  /// their owners), and `total` is the sum of all loads. The caller supplies the loads, such as
  /// requests under way; if they change during the call, the answer is as good as what was read.
  /// When no node qualifies, as loads changed or `total` is wrong, the owner is returned. A foreign
  /// placement that has limits of its own (HAProxy's hash-balance-factor) takes those, and an order
  /// without regard to zones. Takes the time of owners() for as many nodes as are tried.
  const ring_node* pick(std::string_view key, node_load load, std::uint64_t total,
                        std::uint32_t factor) const;

  /// The same with the total taken from the loads: calls `load` once more for each node.
  const ring_node* pick(std::string_view key, node_load load, std::uint32_t factor) const;

  // What the ring is.

  /// All nodes, sorted by name (unsigned bytes), those of weight 0 among them.
  std::span<const ring_node* const> nodes() const noexcept;

  /// The node of that name, or null. Logarithmic.
  const ring_node* find(std::string_view name) const noexcept;

  std::size_t size() const noexcept { return nodes().size(); }
  bool empty() const noexcept { return nodes().empty(); }

  /// Points on the circle (classic, mixed) or segments (slots).
  std::size_t points() const noexcept;

  /// Bytes that this state occupies, nodes included.
  std::size_t bytes() const noexcept;

  /// 64 bits over the placement and the set of (name, weight, zone): two rings, on whatever
  /// machines, have the same exactly when both are the same, but for a chance of 2^-64. Such rings
  /// give equal owners and equal lists of replicas for every key.
  std::uint64_t fingerprint() const noexcept;

  /// Counts the publications of its hash_ring, from 0 for the empty ring.
  std::uint64_t version() const noexcept;

  const placement_options& placement() const noexcept;

  /// A node's exact part of the circle, of 2^32 in all; 0 for an unknown name. Takes time in
  /// proportion to the ring.
  std::uint64_t share(std::string_view name) const;

  /// An owning handle on the same state, to keep. An atomic increment on shared memory.
  ring_snapshot keep() const;

 protected:
  friend LIFERING_API ring_diff diff(const ring_table& before, const ring_table& after);

  explicit ring_table(const ring_detail::snapshot* state) noexcept : state_(state) {}
  ~ring_table() = default;
  ring_table(const ring_table&) = default;
  ring_table& operator=(const ring_table&) = default;

  const ring_detail::snapshot* state_;
};

/// A state pinned for the moment: take it, ask, let it go. The cheapest way to read.
///
/// Movable, also to another thread, but meant to live on the stack for the length of a request. One
/// that is held keeps its state's memory; it doesn't keep the ring from publishing newer ones. Must
/// be gone before its hash_ring is (checked).
class LIFERING_API ring_view : public ring_table {
 public:
  ring_view(ring_view&& other) noexcept
      : ring_table(other), slot_(std::exchange(other.slot_, nullptr)) {}
  ring_view& operator=(ring_view&& other) noexcept {
    if (this != &other) {
      release();
      state_ = other.state_;
      slot_ = std::exchange(other.slot_, nullptr);
    }
    return *this;
  }
  ~ring_view() { release(); }

 private:
  friend class hash_ring;
  ring_view(const ring_detail::snapshot* state, std::atomic<const void*>* slot) noexcept
      : ring_table(state), slot_(slot) {}

  void release() noexcept {
    if (slot_ != nullptr) {
      // (3) Release: what this thread read of the state comes before its reuse by a writer that
      // finds the slot empty. Pairs with the acquire load (4) of publication::collect.
      slot_->store(nullptr, std::memory_order_release);
      slot_ = nullptr;
    }
  }

  std::atomic<const void*>* slot_;
};

/// A state with shared ownership: copyable, may outlive its hash_ring. For use off the request
/// path, such as diff() or a report.
class LIFERING_API ring_snapshot : public ring_table {
 private:
  friend class ring_table;
  explicit ring_snapshot(std::shared_ptr<const ring_detail::snapshot> state) noexcept
      : ring_table(state.get()), owner_(std::move(state)) {}

  std::shared_ptr<const ring_detail::snapshot> owner_;
};

/// A stretch of the circle that changed its owner: all places from `from` to `to`, both included,
/// `from <= to`. An owner is null where the ring had none.
struct moved_range {
  std::uint32_t from;
  std::uint32_t to;
  const ring_node* old_owner;
  const ring_node* new_owner;

  std::uint64_t size() const noexcept { return std::uint64_t{to} - from + 1; }
};

/// What moved between two states, by name of the owner. Holds both states, so that the nodes in its
/// ranges live as long as it.
class LIFERING_API ring_diff {
 public:
  /// Sorted by place, not overlapping; neighbours with the same two owners are merged (but not over
  /// the end of the circle).
  std::span<const moved_range> ranges() const& noexcept { return ranges_; }
  std::span<const moved_range> ranges() && = delete;  // They would not outlive the statement.

  /// The ranges that a node gains, or gives up, for one that hands data over.
  std::vector<moved_range> moved_to(std::string_view name) const&;
  std::vector<moved_range> moved_to(std::string_view name) && = delete;
  std::vector<moved_range> moved_from(std::string_view name) const&;
  std::vector<moved_range> moved_from(std::string_view name) && = delete;

  /// The sum of all ranges, of 2^32 in all.
  std::uint64_t moved() const noexcept;

 private:
  friend LIFERING_API ring_diff diff(const ring_table& before, const ring_table& after);
  ring_diff(ring_snapshot before, ring_snapshot after) noexcept
      : before_(std::move(before)), after_(std::move(after)) {}

  ring_snapshot before_;
  ring_snapshot after_;
  std::vector<moved_range> ranges_;
};

/// Compares two states, of one ring or of two, also with different placements. Takes time and
/// memory in proportion to the rings; keep it off the request path.
LIFERING_API ring_diff diff(const ring_table& before, const ring_table& after);

/// What a change did.
struct ring_change {
  bool changed = false;       ///< False: the nodes were so already, nothing was published.
  std::uint64_t version = 0;  ///< Of the state that now holds, as is the fingerprint.
  std::uint64_t fingerprint = 0;
  std::size_t nodes = 0;
  std::uint64_t moved = 0;  ///< How much of the circle changed owner, exactly, of 2^32.

  /// The same as a share, 0 to 1; for people.
  double moved_share() const noexcept { return static_cast<double>(moved) / 4294967296.0; }
};

/// A consistent-hash ring that threads may change and read at once.
///
/// Any function may be called from any thread. Changes are serialised inside, by a lock that no
/// reader ever meets; each makes one publication. Readers see either the state before a change or
/// the one after it, never a part. Every change comes as a throwing function and as one that takes
/// an std::error_code; both throw std::bad_alloc where memory is short. A change that fails leaves
/// the ring as it was.
///
/// A join or leave takes time in proportion to the bytes of the ring (a copy), a batch about one
/// build at the most: put many changes into one assign(). With a cap, and in a foreign placement,
/// every change is a build.
class LIFERING_API hash_ring {
 public:
  /// An empty ring with the classic placement, 150 points a node.
  hash_ring();

  /// An empty ring. Throws std::system_error (errc::invalid_placement) if `options.validate()`
  /// finds a fault.
  explicit hash_ring(placement_options options);

  /// All views of the ring must be gone (checked, but not in a child made by fork()).
  ~hash_ring();

  /// Neither ring may be in use by another thread. One that was moved from may only be destroyed or
  /// assigned to. Views stay valid; to replace a ring, all views of it must be gone (checked).
  hash_ring(hash_ring&&) noexcept;
  hash_ring& operator=(hash_ring&&) noexcept;

  // Changes. Errors of a node: empty_name, name_too_long, zone_too_long, too_many_points.

  /// Adds a node; duplicate_node if the ring has one of that name.
  ring_change add(ring_node node);
  ring_change add(ring_node node, std::error_code& error);

  /// Removes a node; unknown_node if the ring has none of that name, empty_name if it is empty.
  ring_change remove(std::string_view name);
  ring_change remove(std::string_view name, std::error_code& error);

  /// Changes a node's weight; unknown_node as for remove(). Moves keys only to it or from it.
  ring_change set_weight(std::string_view name, lifering::weight value);
  ring_change set_weight(std::string_view name, lifering::weight value, std::error_code& error);

  /// Makes the ring hold exactly these nodes, in one publication, touching what differs only.
  /// duplicate_node if two have the same name. Fastest when sorted by name.
  ring_change assign(std::vector<ring_node> nodes);
  ring_change assign(std::vector<ring_node> nodes, std::error_code& error);

  /// Removes all nodes.
  ring_change reset();

  // Reading.

  /// The current state, pinned: see ring_view. Where the first view of a thread, or its ninth at
  /// once, finds no memory to register with, some 200 bytes, the process ends.
  ring_view view() const noexcept;

  /// The current state, owned: see ring_snapshot.
  ring_snapshot snapshot() const;

  // One question each, answered by copies from a view of its own; for more than one, take a view.

  /// The name of the owner, or nothing for an empty key or ring.
  std::optional<std::string> owner(std::string_view key) const;
  std::vector<std::string> owners(std::string_view key, std::size_t n) const;
  std::vector<ring_node> nodes() const;
  std::size_t size() const noexcept;    ///< Nodes.
  std::size_t points() const noexcept;  ///< Points or segments.
  std::uint64_t fingerprint() const noexcept;

  const placement_options& placement() const noexcept;

 private:
  std::unique_ptr<ring_detail::ring_core> core_;
};

}  // namespace lifering
