// A handful of protocol machines in one place: packets arrive after a fixed time, streams are
// pipes, and every way can be cut. Enough for the rules of the machine; the simulator in tests/sim
// has the weather.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <lifering/endpoint.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "swim/protocol.hpp"

namespace lifering::swim::test {

using namespace std::chrono_literals;

/// One event that the application of a villager would have seen.
struct seen {
  base::time_point at;
  event_kind kind;
  std::string name;
  std::uint64_t epoch;
};

struct villager {
  std::string name;
  endpoint address;
  std::unique_ptr<protocol> machine;
  std::vector<seen> events;
  std::vector<completed> done;
  std::vector<user_received> messages;
  bool running = true;                     ///< Its process exists.
  bool host_up = true;                     ///< Its host answers for closed ports.
  bool frozen = false;                     ///< Stopped: neither hears nor acts.
  std::deque<std::function<void()>> held;  ///< What arrived while frozen.
};

class village {
 public:
  explicit village(std::size_t size, config settings = {}, std::uint64_t seed = 1);

  villager& at(std::size_t index) { return *villagers_[index]; }
  protocol& machine(std::size_t index) { return *at(index).machine; }
  std::size_t size() const noexcept { return villagers_.size(); }
  base::time_point now() const noexcept { return now_; }
  const std::string& name(std::size_t index) const { return villagers_[index]->name; }

  /// Adds another one, running, that knows nobody.
  std::size_t add(const std::string& name, const std::string& address = "");

  void run_for(base::duration time);
  void run_to(base::time_point time) { run_for(time - now_); }
  /// Runs until the condition holds; false if it didn't within `limit`.
  bool run_until(const std::function<bool()>& condition, base::duration limit);

  /// Every machine but the first joins the first; runs until all see all.
  void form();

  template <class Command>
  void command(std::size_t who, const Command& asked) {
    call(who, [&](protocol& m, effects& out) { m.handle(now_, asked, out); });
  }
  void join(std::size_t who, std::size_t seed);
  void leave(std::size_t who);
  void crash(std::size_t who);   ///< Its host refuses packets from now on.
  void vanish(std::size_t who);  ///< Its host is silent.
  void freeze(std::size_t who);
  void thaw(std::size_t who);
  /// A new process under the same name.
  void restart(std::size_t who, const std::string& address = "");

  /// No packet and no stream from `from` to `to`.
  void cut(std::size_t from, std::size_t to);
  void cut_off(std::size_t who);
  void mend();

  /// Hands a packet to a machine as if it had come from `from`.
  void inject(std::size_t to, const endpoint& from, const packet& content);

  std::size_t count(std::size_t who, event_kind kind, const std::string& about) const;
  /// When it last saw an event of that kind; it must have seen one.
  base::time_point last(std::size_t who, event_kind kind) const;
  bool everywhere(const std::string& about, member_state state) const;
  bool all_see(std::size_t present) const;
  member_state state(std::size_t who, const std::string& about) const;
  bool same_view() const;

  /// Sees every packet on its way; false drops it.
  std::function<bool(std::size_t from, std::size_t to, const packet&)> filter;
  /// Who answers at an address that several have; by default the newest of them.
  std::function<std::size_t(const endpoint&)> holder;
  /// Answers resolve_seed; by default texts are endpoints.
  std::function<seed_resolved(const std::string&)> resolver;

 private:
  struct pipe {
    std::size_t client;
    stream_id client_id;
    std::size_t server;
    stream_id server_id;
  };

  void call(std::size_t who, const std::function<void(protocol&, effects&)>& what);
  void carry_out(std::size_t who, effects& out);
  void send(std::size_t from, const endpoint& to, const packet& content);
  void connect(std::size_t from, const open_stream& asked);
  void push_frame(std::size_t from, stream_id stream, const packet& content);
  void close(std::size_t from, stream_id stream);
  void after(base::duration delay, std::function<void()> what);
  void deliver(std::size_t to, std::function<void()> what);
  std::size_t by_address(const endpoint& address) const;
  bool is_cut(std::size_t from, std::size_t to) const;
  pipe* find_pipe(std::size_t who, stream_id stream);

  config settings_;
  base::rng random_;
  base::time_point now_{std::chrono::hours(1)};
  std::vector<std::unique_ptr<villager>> villagers_;
  std::multimap<base::time_point, std::function<void()>> agenda_;
  std::set<std::pair<std::size_t, std::size_t>> cuts_;
  std::vector<std::unique_ptr<pipe>> pipes_;
  std::uint64_t accepted_ = 0;
  std::uint64_t commands_ = 0;
};

}  // namespace lifering::swim::test
