// What every member believes, as its events told it: the application's side of the story.
//
// Views are compared by sums of hashes that each event changes in constant time, so that agreement
// is known at every step even of 10,000 members.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/observer.hpp"

namespace lifering::sim {

/// What an event says about order: whether it may follow what was believed before. Empty: it may.
std::string_view misplaced_event(event_kind kind, std::optional<member_state> before,
                                 member_state after) noexcept;

class views final : public observer {
 public:
  explicit views(cluster& of);

  struct belief {
    const pooled* record;
    member_state state;
    bool present() const noexcept {
      return state == member_state::alive || state == member_state::suspect;
    }
  };
  /// What `at` last heard of `subject`; nothing if it never did.
  std::optional<belief> of(node_id at, node_id subject) const;

  // Sums over the present members of a view: equal exactly when the views are equal.
  std::uint64_t content(node_id at) const noexcept { return nodes_[at].content; }
  std::uint64_t share(node_id at) const noexcept { return nodes_[at].share; }
  std::size_t present(node_id at) const noexcept { return nodes_[at].present; }

  /// The ring that a member has published: the first change at once, later ones gathered.
  std::uint64_t published(node_id at) const noexcept { return nodes_[at].published; }
  std::uint64_t versions(node_id at) const noexcept { return nodes_[at].versions; }
  std::uint64_t publications() const noexcept { return publications_; }

  /// All members that run hold one view, the true one, and one ring.
  bool agreed() const;
  /// Distinct rings among the members that run.
  std::size_t distinct_rings() const noexcept { return rings_.size(); }
  std::size_t distinct_views() const noexcept { return contents_.size(); }
  std::size_t live() const noexcept { return live_; }

  /// How often a life that had failed was present again: parts that were apart have merged.
  std::uint64_t revivals() const noexcept { return revivals_; }

  /// The same sums taken from the machine's own table; for the checkers.
  struct sums {
    std::uint64_t content = 0;
    std::uint64_t share = 0;
    std::size_t present = 0;
  };
  sums sums_of(node_id at) const;

  /// Later changes of a ring are gathered for this long (issue: at most 0.3 s).
  static constexpr duration gather = std::chrono::milliseconds{300};

  void on_started(node_id which) override;
  void on_stopped(node_id which) override;
  void on_event(node_id at, const swim::member_changed& what) override;
  void on_step(node_id at, const swim::packet* heard) override;

 private:
  struct state {
    bool live = false;
    std::uint64_t content = 0;
    std::uint64_t share = 0;
    std::size_t present = 0;
    std::uint64_t published = 0;
    std::uint64_t versions = 0;
    time_point may_publish{};
    bool publish_due = false;
    const swim::record* self = nullptr;
    bool held_down = false;
    std::vector<std::uint32_t> beliefs;  // By subject: record index + 1 and two bits of state.
  };
  using census = std::map<std::uint64_t, std::uint32_t>;

  void believe(node_id at, node_id subject, const pooled& record, member_state now);
  void count_view(state& of, int change);
  void follow_self(node_id at);
  void publish_if_due(node_id at);
  void publish(node_id at);
  static void move(census& in, std::uint64_t from, std::uint64_t to);

  cluster& cluster_;
  std::vector<state> nodes_;
  census contents_;  // How many running members hold each view, and each published ring.
  census rings_;
  std::uint64_t truth_ = 0;  // The sum over what running members say of themselves.
  std::vector<std::uint64_t> true_content_;
  std::size_t live_ = 0;
  std::uint64_t publications_ = 0;
  std::uint64_t revivals_ = 0;
};

}  // namespace lifering::sim
