// What is wrong with the simulated world at the moment and was lately: cuts, losses, pauses,
// blocks, stops. The network asks it what passes; the report asks it whether a verdict is excused.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "sim/node_set.hpp"

namespace lifering::sim {

/// Probabilities are parts of a million, so that no floating point decides anything.
using ppm = std::uint32_t;
inline constexpr ppm certain = 1'000'000;

/// Someone who was disturbed this short a time ago may be judged, or judge, wrongly.
inline constexpr base::duration excuse_time = std::chrono::seconds{30};

class faults {
 public:
  explicit faults(node_id nodes);

  // Cuts. Each is one way; they may overlap. The handle ends the cut early.

  using cut_handle = std::size_t;
  cut_handle cut(base::time_point now, node_set from, node_set to);
  void mend(base::time_point now, cut_handle which);

  /// Is the way between the two, in this direction, cut?
  bool is_cut(node_id from, node_id to) const noexcept;
  bool any_cut() const noexcept { return !active_cuts_.empty(); }

  // Losses of one member's own, in addition to the network's. The last one set holds.

  void set_loss_out(base::time_point now, node_id node, ppm loss);
  void set_loss_in(base::time_point now, node_id node, ppm loss);
  ppm loss_out(node_id node) const noexcept { return per_node_[node].loss_out; }
  ppm loss_in(node_id node) const noexcept { return per_node_[node].loss_in; }

  /// Ends every cut and every loss of a member's own.
  void heal(base::time_point now);

  // What hosts do to their processes; told here for the record.

  void hampered(base::time_point now, node_id node, bool is);  ///< Paused or blocked.
  void stopped(base::time_point now, node_id node, bool is);   ///< No process there.

  /// Neither a false nor a true failure: within the last 30 s the subject was stopped, hampered or
  /// under a loss of its own, the observer was hampered or under one, or the way between them was
  /// cut in either direction.
  bool excuses(base::time_point now, node_id observer, node_id subject) const noexcept;

  /// Nothing is cut, lossy or hampered now. (A stopped member is no fault of the network.)
  bool calm() const noexcept;

 private:
  struct one_way {
    node_set from;
    node_set to;
    std::optional<base::time_point> ended;
  };
  /// Something that is on or off: how often it is on now, and when it last went off.
  struct spell {
    unsigned active = 0;
    std::optional<base::time_point> ended;
    void set(base::time_point now, bool on);
    bool within(base::time_point now, base::duration window) const noexcept;
  };
  struct state {
    ppm loss_out = 0;
    ppm loss_in = 0;
    spell lossy;
    spell hampered;
    spell stopped;
  };

  void set_loss(base::time_point now, state& of, ppm& slot, ppm loss);

  std::vector<one_way> cuts_;  // All that ever were; a scenario has few.
  std::vector<cut_handle> active_cuts_;
  std::vector<state> per_node_;  // By node_id; slot 0 is unused.
};

}  // namespace lifering::sim
