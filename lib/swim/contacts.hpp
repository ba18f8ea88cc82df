// Finding others: joining through seeds, and contacting seeds and lost members again, for ever and
// within a bounded budget, so that a member that starts before its seeds or is cut off from its
// peers comes back by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "swim/core.hpp"
#include "swim/reconciler.hpp"
#include "swim/synchronizer.hpp"

namespace lifering::swim {

/// A join under way.
struct join_attempt {
  command_id id{};
  base::time_point deadline{};
  std::vector<endpoint> untried;
  std::vector<endpoint> busy;  ///< Had no room or no time; asked again at `retry_at`.
  base::time_point retry_at{};
  unsigned retries = 0;
  std::size_t resolving = 0;
  std::vector<endpoint> trying;
  base::time_point knock_at{};
  bool knocked = false;
  std::error_code refused;
  std::string lookups;  ///< Why seeds have no addresses, for people;
  std::string answers;  ///< and what their addresses said.
};

class contacts {
 public:
  contacts(core& shared, synchronizer& streams, reconciler& views);

  void join(const join_command& asked);
  void cancel(command_id target);
  void on_resolved(const seed_resolved& answer);

  /// A member's view equals ours: whoever joins has arrived.
  void on_agreement();

  /// We have asked whoever listens there to compare views, and wait for it.
  bool has_knocked_at(const endpoint& address) const noexcept;

  void advance();
  base::time_point next_deadline() const noexcept;

  /// Somebody was lost: look for them sooner again.
  void member_lost() noexcept;

  /// Completes what is pending; used when this member goes away.
  void stop(std::error_code why);

 private:
  void pump();
  void advance_join();
  base::time_point next_knock() const noexcept;
  void retry_later(const endpoint& address);
  void try_address(const endpoint& address);
  void on_tried(const endpoint& address, const stream_outcome& how);
  void knock();
  static void note(std::string& to, const std::string& what);
  void finish(std::error_code error, std::uint32_t contacted);
  void heal();
  bool is_present(const endpoint& address) const;
  base::duration pause();

  core& shared_;
  synchronizer& streams_;
  reconciler& views_;
  std::vector<std::string> seeds_;
  std::optional<join_attempt> joining_;
  std::size_t next_seed_ = 0;
  unsigned patience_ = 0;  ///< Doubles the pause between tries to heal, up to a limit.
  bool missing_ = false;   ///< At the last try somebody was, or we were alone.
  base::time_point next_heal_;
  bool healing_ = false;  ///< A seed's addresses were asked for by heal().

  /// Enough that a list of addresses that are all dead but one is no wait.
  static constexpr std::size_t parallel_tries = 32;
};

}  // namespace lifering::swim
