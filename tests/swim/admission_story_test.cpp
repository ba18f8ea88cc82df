// What may happen to a newcomer, to its seed and to others while it is asked whether it is where it
// says that it is.
#include <lifering/error.hpp>

#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

bool has_joined(village& v, std::size_t who) {
  return !v.at(who).done.empty() && !v.at(who).done.front().error;
}

/// Three members that know each other.
struct formed_village : village {
  explicit formed_village(std::uint64_t seed = 1) : village(3, {}, seed) { form(); }

  std::size_t count_members(event_kind kind, const std::string& about) const {
    return count(0, kind, about) + count(1, kind, about) + count(2, kind, about);
  }
};

}  // namespace

TEST_CASE("a newcomer that moves while it is asked is admitted where it has gone", "[swim]") {
  formed_village v;
  const std::size_t late = v.add("late");
  bool reachable = false;
  v.filter = [&](std::size_t, std::size_t to, const packet&) { return reachable || to != late; };
  v.join(late, 0);
  v.run_for(2s);
  REQUIRE(v.at(late).done.empty());
  update_command there;
  there.id = command_id{77};
  there.address = v.at(late).address = *endpoint::parse("10.9.9.9:7946");
  v.command(late, there);
  reachable = true;
  CHECK(v.run_until([&] { return v.all_see(4) && v.same_view(); }, 2s));
  CHECK(v.at(late).done.size() == 2);  // the move and the join
  for (const auto& each : v.at(late).done)
    CHECK_FALSE(each.error);
  CHECK(v.count_members(event_kind::joined, "late") == 3);
  CHECK(v.machine(late).self()->incarnation == 2);
}

TEST_CASE("those whom nobody reaches keep nobody waiting, however many come at one instant",
          "[swim]") {
  village v(1);
  const std::size_t lost = 200;  // More than a seed has streams for.
  for (std::size_t i = 0; i < 200 + lost; ++i)
    v.add("late-" + std::to_string(i));
  const auto is_lost = [](std::size_t who) { return who % 2 == 1; };
  v.filter = [&](std::size_t, std::size_t to, const packet&) { return !is_lost(to); };
  for (std::size_t who = 1; who < v.size(); ++who)
    v.join(who, 0);
  const auto each_other_sees = [&](std::size_t count) {
    for (std::size_t who = 0; who < v.size(); ++who) {
      if (!is_lost(who) && v.machine(who).present_members() != count) return false;
    }
    return true;
  };
  CHECK(v.run_until([&] { return each_other_sees(v.size() - lost); }, 2s));
  v.run_for(11s);
  CHECK(each_other_sees(v.size() - lost));
  for (std::size_t who = 1; who < v.size(); ++who) {
    REQUIRE(v.at(who).done.size() == 1);
    CHECK(has_joined(v, who) == !is_lost(who));
    CHECK(v.at(who).done.front().detail.empty() == !is_lost(who));
  }
}

TEST_CASE("of two newcomers with one name at one instant one is let in and the other stops",
          "[swim]") {
  formed_village v(GENERATE(range<std::uint64_t>(1, 12)));
  const std::size_t one = v.add("late");
  const std::size_t other = v.add("late");
  v.join(one, 0);
  v.join(other, GENERATE(std::size_t{0}, std::size_t{1}));
  v.run_for(20s);
  CHECK(v.count(one, event_kind::superseded, "late") +
            v.count(other, event_kind::superseded, "late") ==
        1);
  CHECK(v.count_members(event_kind::joined, "late") == 3);
  CHECK(v.count_members(event_kind::failed, "late") == 0);
  for (std::size_t who = 0; who < 3; ++who)
    CHECK(v.machine(who).present_members() == 4);
}

TEST_CASE("a newcomer that stood still while it was asked isn't told that it is nowhere",
          "[swim]") {
  const auto pause = GENERATE(6s, 9s);  // Longer than it is asked for; less than the join may take.
  formed_village v;
  const std::size_t late = v.add("late");
  v.join(late, 0);
  v.run_for(1100us);
  REQUIRE(v.machine(0).present_members() == 3);
  v.freeze(late);
  v.run_for(pause);
  REQUIRE(v.machine(0).present_members() == 3);
  v.thaw(late);
  CHECK(v.run_until([&] { return v.all_see(4); }, 2s));
  CHECK(has_joined(v, late));
}

TEST_CASE("a seed that goes while it asks a newcomer leaves it to another one", "[swim]") {
  const std::string how = GENERATE("leaves", "crashes", "vanishes", "stands still");
  const auto when = GENERATE(500us, 1100us, 1600us, 2100us, 2600us, 3100us, 4100us, 5100us);
  const bool has_another = GENERATE(false, true);
  INFO(how << " after " << when.count() << " us, "
           << (has_another ? "one of two" : "the only one"));
  formed_village v;
  const std::size_t late = v.add("late");
  join_command asked{command_id{50}, {v.at(0).address.to_string()}, 10s};
  if (has_another) asked.seeds.push_back(v.at(1).address.to_string());
  v.command(late, asked);
  v.run_for(when);
  if (how == "leaves") {
    v.leave(0);
    v.run_for(20ms);
  }
  if (how == "crashes") v.crash(0);
  if (how == "stands still") v.freeze(0);
  if (how == "vanishes" || how == "leaves") v.vanish(0);
  v.run_for(25s);

  // Both sides know the same of it.
  REQUIRE(v.at(late).done.size() == 1);
  const bool is_in = has_joined(v, late);
  if (has_another) CHECK(is_in);
  CHECK(v.at(late).done.front().detail.empty() == is_in);
  for (const std::size_t who : {std::size_t{1}, std::size_t{2}})
    CHECK(v.machine(who).present_members() == (is_in ? 3 : 2));
  CHECK(v.machine(late).present_members() == (is_in ? 3 : 1));
}

TEST_CASE("a newcomer that starts anew again and again while it is asked is let in once",
          "[swim]") {
  formed_village v(GENERATE(range<std::uint64_t>(1, 20)));
  const auto life = GENERATE(1100us, 2100us, 3100us);
  const std::size_t late = v.add("late");
  for (int starts = 0; starts < 4; ++starts) {
    v.join(late, 0);
    v.run_for(life);
    // As if its host had vanished: nobody hears of the end of its streams.
    v.restart(late, starts == 2 ? "10.77.0.1:7946" : "");
    v.at(late).done.clear();
  }
  v.join(late, 0);
  CHECK(v.run_until([&] { return has_joined(v, late); }, 1s));
  v.run_for(3s);
  CHECK(v.all_see(4));
  CHECK(v.same_view());
  CHECK(v.count_members(event_kind::joined, "late") == 3);
  CHECK(v.count_members(event_kind::failed, "late") == 0);
}
