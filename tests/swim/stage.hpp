// One protocol machine on a stage; every other member is a part played by the test. What the
// machine sends is kept to be looked at, and what it hears is exactly what the test says.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "swim/protocol.hpp"

namespace lifering::swim::test {

using namespace std::chrono_literals;

/// The clock of all stages starts here: far from zero, so that nothing rests on an epoch.
inline constexpr base::time_point curtain{std::chrono::hours(1)};

/// The parameters of the papers: one second, half a second, three helpers, alpha 5, beta 6.
config papers();

/// Only SWIM and Lifeguard as published: what we added to them is off.
config only_the_papers();

class stage {
 public:
  /// The machine is "m0" and already knows `actors` others, "m1" and so on, as alive.
  explicit stage(std::size_t actors, config settings = papers(), std::uint64_t seed = 1);

  struct sent {
    base::time_point at;
    endpoint to;
    packet content;
  };
  struct opened {
    base::time_point at;
    stream_id stream;
    endpoint to;
  };

  protocol machine;

  base::time_point now() const noexcept { return now_; }
  base::duration since_start() const noexcept { return now_ - curtain; }

  /// Time passes. Actors that aren't silent answer pings after a millisecond; streams that the
  /// machine opens time out unless the test does something with them.
  void run_for(base::duration time);
  void run_to(base::time_point time) { run_for(time - now_); }
  /// The machine stands still until then: it isn't called, and nothing reaches it.
  void skip_to(base::time_point time);
  /// Until the condition holds; false if it didn't within `limit`.
  bool run_until(const std::function<bool()>& condition, base::duration limit);

  /// Actors that don't answer pings.
  std::set<std::size_t> silent;
  /// No actor answers.
  void silence();
  /// The machine gets an ack for its last ping now.
  void answer_last_ping();

  /// Runs to the machine's next probe.
  sent next_ping();
  /// Lets an actor ping the machine until all news has ridden on acks.
  void drain(std::size_t actor);

  static std::string name(std::size_t actor) { return "m" + std::to_string(actor); }
  const record_ptr& part(std::size_t actor) const { return parts_[actor]; }
  /// Which actor has that address.
  std::size_t actor_at(const endpoint& address) const;

  /// A packet as that actor would send it, agreeing with the machine's view.
  packet from(std::size_t actor) const;

  template <class Body>
  packet saying(std::size_t actor, Body body) const {
    packet made = from(actor);
    made.body = std::move(body);
    return made;
  }

  /// The machine receives something of an actor.
  void hear(std::size_t actor, const packet& content);
  void hear(std::size_t actor, update news);
  void ping_machine(std::size_t actor, std::uint64_t sequence);
  template <class Input>
  void give(const Input& input) {
    effects out;
    machine.handle(now_, input, out);
    keep(out);
  }

  // Claims.
  update alive(std::size_t actor, std::uint64_t incarnation) const;
  update suspect(std::size_t actor, std::size_t by, std::uint64_t incarnation = 1) const;
  update failed(std::size_t actor, std::size_t by, std::uint32_t witnesses,
                std::uint64_t incarnation = 1) const;
  update left(std::size_t actor, std::uint64_t incarnation = 1) const;

  member_state state(std::size_t actor) const;
  std::size_t count(event_kind kind, const std::string& about = "") const;

  // What the machine did; the test may clear them.
  std::vector<sent> datagrams;
  std::vector<sent> frames;  ///< `to` is the stream's peer, if the machine opened it.
  std::vector<opened> streams;
  std::vector<member_changed> events;
  std::vector<member_renewed> renewed;
  std::vector<completed> done;
  std::vector<user_received> messages;
  std::vector<std::string> resolving;

  /// Datagrams whose body is a Body, in order.
  template <class Body>
  std::vector<sent> with() const {
    std::vector<sent> found;
    for (const sent& s : datagrams) {
      if (std::holds_alternative<Body>(s.content.body)) found.push_back(s);
    }
    return found;
  }

  /// Updates of that kind about an actor in a packet.
  static std::size_t mentions(const packet& content, const std::string& about, update_kind kind);
  /// Datagrams since the last clearing that say so.
  std::size_t mentions(std::size_t about, update_kind kind) const;

 private:
  void keep(const effects& out);
  void answer(std::size_t actor, std::uint64_t sequence);
  void after(base::duration delay, std::function<void()> what);

  base::time_point now_ = curtain;
  std::vector<record_ptr> parts_;
  std::multimap<base::time_point, std::function<void()>> agenda_;
};

}  // namespace lifering::swim::test
