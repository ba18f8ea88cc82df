// The queue of events: order, numbers, and what a slow application is spared.
#include "cluster/event_queue.hpp"

#include <map>

#include "base/rng.hpp"
#include "support/catch.hpp"

using lifering::event_kind;
using lifering::member;
using lifering::member_event;
using lifering::member_state;
using lifering::ring_event;
using lifering::cluster_detail::event_queue;
using lifering::cluster_detail::member_change;
using lifering::cluster_detail::seen_state;

namespace {

std::shared_ptr<const member> make(std::string name, member_state state, std::uint64_t epoch = 1) {
  member result;
  result.name = std::move(name);
  result.state = state;
  result.epoch = epoch;
  return std::make_shared<const member>(std::move(result));
}

member_change joined(const std::string& name) {
  return {event_kind::joined, {}, {}, make(name, member_state::alive)};
}
member_change suspected(const std::string& name) {
  return {event_kind::suspected, {}, seen_state{}, make(name, member_state::suspect)};
}
member_change recovered(const std::string& name) {
  return {event_kind::recovered,
          {},
          seen_state{member_state::suspect, 1},
          make(name, member_state::alive)};
}
member_change failed(const std::string& name) {
  return {event_kind::failed,
          {},
          seen_state{member_state::suspect, 1},
          make(name, member_state::failed)};
}

ring_event ring(std::uint64_t version, double moved) {
  ring_event result;
  result.version = version;
  result.moved = moved;
  return result;
}

/// A queue whose limit is reached, so that what follows is folded where it can be.
event_queue full_queue() {
  event_queue queue(4);
  for (const auto* name : {"w", "x", "y", "z"})
    queue.push(joined(name));
  return queue;
}

std::vector<member_event> drain_members(event_queue& queue) {
  std::vector<member_event> result;
  while (const auto value = queue.pop()) {
    if (const auto* change = std::get_if<member_event>(&*value)) result.push_back(*change);
  }
  return result;
}

}  // namespace

TEST_CASE("events come out in order with numbers from one", "[event_queue]") {
  event_queue queue(16);
  queue.push(joined("a"));
  queue.push(ring(1, 1.0));
  queue.push(suspected("a"));
  CHECK(std::get<member_event>(*queue.pop()).number == 1);
  const auto second = std::get<ring_event>(*queue.pop());
  CHECK(second.number == 2);
  CHECK(second.version == 1);
  CHECK(std::get<member_event>(*queue.pop()).kind == event_kind::suspected);
  CHECK_FALSE(queue.pop().has_value());
  CHECK(queue.merged() == 0);
}

TEST_CASE("below the limit nothing is folded", "[event_queue]") {
  event_queue queue(16);
  queue.push(joined("a"));
  queue.push(suspected("a"));
  queue.push(recovered("a"));
  CHECK(drain_members(queue).size() == 3);
}

TEST_CASE("a full queue folds the events of one member into what differs", "[event_queue]") {
  auto queue = full_queue();

  SECTION("joined and suspected are one joined, in its last state") {
    queue.push(suspected("x"));
    const auto all = drain_members(queue);
    REQUIRE(all.size() == 4);
    CHECK(all.back().kind == event_kind::joined);
    CHECK(all.back().subject.state == member_state::suspect);
    CHECK(all.back().merged == 1);
    CHECK(all.back().number == 4);
    CHECK(queue.merged() == 1);
  }
  SECTION("what came and went unseen is not told") {
    queue.push(failed("x"));
    const auto all = drain_members(queue);
    CHECK(all.size() == 3);
    CHECK(queue.merged() == 2);
  }
  SECTION("suspected and recovered are an update") {
    queue.pop();
    queue.push(suspected("known"));
    queue.push(recovered("known"));
    const auto all = drain_members(queue);
    CHECK(all.back().kind == event_kind::updated);
    CHECK(all.back().subject.state == member_state::alive);
  }
  SECTION("failed and joined again are an update") {
    queue.push(failed("known"));
    member_change back = joined("known");
    back.after = make("known", member_state::alive, 2);
    queue.push(back);
    const auto all = drain_members(queue);
    CHECK(all.back().kind == event_kind::updated);
    CHECK(all.back().subject.epoch == 2);
  }
  SECTION("failed stays failed, whatever came before it") {
    queue.push(suspected("known"));
    queue.push(failed("known"));
    const auto all = drain_members(queue);
    CHECK(all.back().kind == event_kind::failed);
  }
  SECTION("rings are folded and their moved shares added up") {
    queue.push(ring(1, 0.5));
    queue.push(ring(2, 0.3));
    queue.push(ring(3, 0.4));
    std::vector<ring_event> rings;
    while (const auto value = queue.pop()) {
      if (const auto* one = std::get_if<ring_event>(&*value)) rings.push_back(*one);
    }
    REQUIRE(rings.size() == 1);
    CHECK(rings[0].version == 3);
    CHECK(rings[0].moved == 1.0);
  }
  SECTION("what concerns ourselves is told beside what happens to our record") {
    queue.push({event_kind::isolated, {}, {}, make("me", member_state::alive)});
    queue.push({event_kind::updated, {}, seen_state{}, make("me", member_state::alive)});
    queue.push({event_kind::superseded, {}, {}, make("me", member_state::alive, 2)});
    const auto all = drain_members(queue);
    REQUIRE(all.size() == 7);
    CHECK(all[4].kind == event_kind::isolated);
    CHECK(all[6].kind == event_kind::superseded);
  }
}

TEST_CASE("an application that is far behind ends with the right view", "[event_queue]") {
  // A random history of 20 members against a reader that rarely reads. What it is told must
  // alternate properly, and leave it with the true state.
  const auto seed = GENERATE(range(1, 21));
  lifering::base::rng random(static_cast<std::uint64_t>(seed));
  event_queue queue(16);
  std::map<std::string, member_state> truth;  // present members
  std::map<std::string, member_state> seen;
  std::uint64_t numbers = 0;

  const auto read = [&] {
    const auto value = queue.pop();
    if (!value) return false;
    const auto& event = std::get<member_event>(*value);
    INFO("seed " << seed << ", member " << event.subject.name << ' ' << to_string(event.kind));
    CHECK(event.number == ++numbers);
    CHECK((event.kind == event_kind::joined) == !seen.contains(event.subject.name));
    if (event.subject.present()) {
      seen[event.subject.name] = event.subject.state;
    } else {
      seen.erase(event.subject.name);
    }
    return true;
  };

  for (int step = 0; step < 3000; ++step) {
    const std::string name = "m" + std::to_string(random.below(20));
    const auto known = truth.find(name);
    if (known == truth.end()) {
      queue.push(joined(name));
      truth[name] = member_state::alive;
    } else if (known->second == member_state::alive) {
      queue.push(suspected(name));
      known->second = member_state::suspect;
    } else if (random.chance(1, 2)) {
      queue.push(recovered(name));
      known->second = member_state::alive;
    } else {
      queue.push(failed(name));
      truth.erase(known);
    }
    CHECK(queue.size() <= 16 + 20);
    if (random.chance(1, 10)) read();
  }
  while (read()) {
  }
  CHECK(seen == truth);
  CHECK(queue.merged() > 0);
}
