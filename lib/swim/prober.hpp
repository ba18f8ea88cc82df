// Failure detection (SWIM 3.1 and 4.3, Lifeguard IV-A): one member is probed per interval, others
// help, and helpers say that they are there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "swim/core.hpp"
#include "swim/membership.hpp"

namespace lifering::swim {

class prober {
 public:
  /// `probe_by_stream` opens a stream to a row and probes it there, for probe `sequence`.
  using stream_prober = std::function<void(row_id, std::uint64_t sequence)>;

  prober(core& shared, membership& members, stream_prober probe_by_stream);

  /// Probes a member now, out of its turn (on a suspicion, on a refusal).
  void probe_now(row_id id);

  void on_ping(const endpoint& from, const sender& by, row_id by_row, const ping& asked);
  void on_ping_request(const endpoint& from, row_id by_row, const ping_request& asked);
  void on_ack(std::uint64_t sequence);
  void on_nack(std::uint64_t sequence);

  /// The stream probe of that sequence was answered, or its host refused it.
  void on_stream_ack(std::uint64_t sequence);
  void on_stream_refused(std::uint64_t sequence);

  /// A host answered that nobody listens at this address.
  void on_refused(const endpoint& address);

  void advance();
  base::time_point next_deadline() const noexcept;

  /// Somebody's answer is awaited.
  bool busy() const noexcept { return !probes_.empty(); }

  /// Forgets what is under way: the machine stood still, and unanswered probes mean nothing.
  void abandon();

  /// Gives probes under way that much more time: the machine was late.
  void postpone(base::duration by) noexcept;

  /// Probes nobody from now on, or again.
  void stop() noexcept;
  void resume();

 private:
  struct probe {
    row_id target = no_row;
    std::uint64_t epoch = 0;
    std::uint64_t sequence = 0;
    base::time_point started{};
    base::time_point next_try{};  ///< Of the direct ping.
    base::time_point give_up{};
    unsigned tries = 0;
    unsigned helpers = 0;
    unsigned nacks = 0;
    bool asked_helpers = false;
    bool refused = false;
    bool by_stream = false;  ///< The stream has answered.
  };
  struct relay {  ///< A probe for somebody else.
    endpoint asker;
    std::uint64_t asked_sequence = 0;
    std::uint64_t sequence = 0;
    std::string target;
    std::uint64_t target_epoch = 0;
    endpoint target_address;
    base::time_point again_at{};
    base::time_point nack_at{};
    base::time_point expires{};
  };

  void start(row_id id, base::time_point give_up);
  void send_ping(probe& p);
  void retry(probe& p);
  void ask_helpers(probe& p);
  void send_relayed(const relay& r);
  void end_relay(std::size_t index);
  void succeed(std::size_t index, bool by_stream);
  void conclude(std::size_t index);
  bool still_meant(const probe& p) const noexcept;
  std::size_t find(std::uint64_t sequence) const noexcept;
  row_id next_target();
  base::time_point turn_after(base::duration pause) const noexcept;

  core& shared_;
  membership& members_;
  stream_prober probe_by_stream_;
  std::vector<probe> probes_;
  std::vector<relay> relays_;  ///< The first `relays_used_`; the rest is storage.
  std::size_t relays_used_ = 0;
  std::vector<row_id> helpers_;  ///< Scratch of ask_helpers().
  base::time_point next_turn_;
  bool stopped_ = false;

  static constexpr std::size_t probes_max = 64;
  static constexpr std::size_t relays_max = 512;
};

}  // namespace lifering::swim
