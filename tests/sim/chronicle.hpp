// What happened in a run, as far as reports and expectations ask: verdicts and whether they were
// right, how long news took, when the cluster agreed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/observer.hpp"
#include "sim/views.hpp"

namespace lifering::sim {

/// One crash or vanishing, and how it became known. Times are from the crash.
struct crash_story {
  node_id node = 0;
  time_point at{};
  std::uint64_t epoch = 0;
  std::optional<duration> first;  ///< The first `failed` event anywhere.
  std::optional<duration> last;   ///< The latest so far.
  bool complete = false;          ///< In the end no running member holds that life present.
  bool closed = false;  ///< The member started again; what comes later is about another life.
};

struct false_failure {
  time_point at;
  node_id observer;
  node_id subject;
};

/// An event that one of the expectations wants to count later.
struct noted_event {
  time_point at;
  node_id observer;
  node_id subject;
  event_kind kind;
};

class chronicle final : public observer {
 public:
  chronicle(cluster& of, const views& told);

  // Told by the scenario.

  void crashed(node_id which, std::uint64_t epoch);
  /// Keep the events about this member, one by one.
  void note_events_about(node_id subject) { noted_subjects_[subject] = true; }

  // Read by reports and expectations.

  const std::vector<crash_story>& crashes();
  const std::vector<false_failure>& false_failures() const noexcept { return false_failures_; }
  const std::vector<noted_event>& noted() const noexcept { return noted_; }
  std::uint64_t events(event_kind kind) const noexcept {
    return events_[static_cast<std::size_t>(kind)];
  }
  const std::vector<time_point>& suspicions() const noexcept { return suspicions_; }

  /// Each change between agreement and not, from the world's beginning (not agreed).
  struct turn {
    time_point at;
    bool agreed;
  };
  const std::vector<turn>& turns() const noexcept { return turns_; }
  bool agreed_at(time_point when) const;
  /// Agreed without a break in [from, to).
  bool agreed_throughout(time_point from, time_point to) const;
  /// The end of the last time without agreement.
  std::optional<time_point> agreed_since() const;

  std::size_t distinct_rings_max() const noexcept { return rings_max_; }
  std::size_t rows_max() const noexcept { return rows_max_; }

  /// How often each member heard a broadcast, by payload.
  const std::map<std::string, std::vector<std::uint32_t>>& deliveries() const noexcept {
    return deliveries_;
  }
  std::optional<time_point> isolated_at(node_id which) const { return isolated_[which]; }

  void on_started(node_id which) override;
  void on_stopped(node_id which) override;
  void on_event(node_id at, const swim::member_changed& what) override;
  void on_step(node_id at, const swim::packet* heard) override;
  void on_user_message(node_id at, const swim::user_received& what) override;

 private:
  void failed(node_id at, node_id subject, std::uint64_t epoch);
  void settle(crash_story& story) const;
  void look();

  cluster& cluster_;
  const views& told_;
  std::vector<crash_story> crashes_;
  std::vector<false_failure> false_failures_;
  std::array<std::uint64_t, 8> events_{};
  std::vector<time_point> suspicions_;
  std::vector<bool> noted_subjects_;
  std::vector<noted_event> noted_;
  std::vector<turn> turns_;
  std::map<std::string, std::vector<std::uint32_t>> deliveries_;
  std::vector<std::optional<time_point>> isolated_;
  std::size_t rings_max_ = 0;
  std::size_t rows_max_ = 0;
};

}  // namespace lifering::sim
