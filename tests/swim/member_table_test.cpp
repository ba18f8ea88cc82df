// The table of members against a dumb twin under random operations, and the promises of its probe
// order (SWIM 4.3).
#include "swim/member_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace std::chrono_literals;

namespace {

constexpr base::time_point start{std::chrono::hours(1)};

record_ptr make(const std::string& name, std::uint64_t epoch = 1, std::uint64_t incarnation = 1) {
  record made;
  made.name = name;
  made.epoch = epoch;
  made.incarnation = incarnation;
  return std::make_shared<const record>(std::move(made));
}

bool is_present(member_state state) {
  return state == member_state::alive || state == member_state::suspect;
}

/// What the table must know, in the simplest form there is.
struct twin {
  struct entry {
    row_id id;
    std::uint64_t epoch, record_incarnation, incarnation;
    member_state state;
    base::time_point since;
    bool probed;
  };
  std::map<std::string, entry> members;

  std::size_t present() const {
    return static_cast<std::size_t>(std::count_if(
        members.begin(), members.end(), [](const auto& m) { return is_present(m.second.state); }));
  }
  std::uint64_t digest() const {
    std::uint64_t sum = 0;
    for (const auto& [name, e] : members) {
      if (is_present(e.state)) sum += digest_of(hash_bytes(name), e.epoch, e.record_incarnation);
    }
    return sum;
  }
  std::set<row_id> others() const {
    std::set<row_id> found;
    for (const auto& [name, e] : members) {
      if (is_present(e.state) && e.probed) found.insert(e.id);
    }
    return found;
  }
};

void compare(member_table& table, const twin& expected) {
  REQUIRE(table.present() == expected.present());
  REQUIRE(table.graves() == expected.members.size() - expected.present());
  REQUIRE(table.digest() == expected.digest());
  const auto others = table.others();
  REQUIRE(std::set<row_id>(others.begin(), others.end()) == expected.others());
  REQUIRE(others.size() == expected.others().size());
  for (std::size_t i = 0; i < others.size(); ++i)
    REQUIRE(table.at(others[i]).order_slot == i);
  std::set<row_id> ids;
  for (const auto& [name, e] : expected.members) {
    REQUIRE(table.find(name) == e.id);
    const row& held = table.at(e.id);
    REQUIRE(held.subject->name == name);
    REQUIRE(held.held() == evidence{e.epoch, e.incarnation, e.state});
    REQUIRE(held.since == e.since);
    REQUIRE(ids.insert(e.id).second);
    if (!is_present(e.state)) REQUIRE(held.order_slot == no_row);
  }
  std::size_t used = 0;
  for (row_id id = 0; id < table.slots(); ++id)
    used += table.at(id).subject != nullptr;
  REQUIRE(used == expected.members.size());
}

member_table with(std::size_t members, base::rng& random) {
  member_table table;
  for (std::size_t i = 0; i < members; ++i)
    table.insert(make("n" + std::to_string(i)), 1, member_state::alive, true, start, random);
  return table;
}

}  // namespace

TEST_CASE("an empty table knows nobody, has nobody to probe and no grave", "[swim]") {
  member_table table;
  base::rng random(1);
  CHECK(table.find("a") == no_row);
  CHECK(table.find("") == no_row);
  CHECK(table.next_in_round(random) == no_row);
  CHECK(table.random_other(random) == no_row);
  CHECK(table.oldest_grave() == no_row);
  CHECK(table.random_failed(random, 10) == no_row);
  CHECK(table.digest() == 0);
}

TEST_CASE("under random operations the table equals its dumb twin", "[swim]") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  base::rng random(seed);
  member_table table;
  twin expected;
  base::time_point now = start;
  const auto drawn_state = [&] { return static_cast<member_state>(random.below(4)); };
  for (int step = 0; step < 3'000; ++step) {
    now += std::chrono::milliseconds(random.below(3));
    const std::string name = "n" + std::to_string(random.below(40));
    const auto found = expected.members.find(name);
    const auto chosen = random.below(10);
    if (found == expected.members.end()) {
      const auto state = drawn_state();
      const bool probed = random.chance(9, 10);
      const auto epoch = 1 + random.below(3);
      const row_id id = table.insert(make(name, epoch), 1, state, probed, now, random);
      expected.members[name] = {id, epoch, 1, 1, state, now, probed};
    } else if (chosen < 2) {
      table.erase(found->second.id);
      expected.members.erase(found);
      REQUIRE(table.find(name) == no_row);
    } else if (chosen < 4) {  // a new life or a new record
      twin::entry& e = found->second;
      const bool new_life = random.chance(1, 2);
      e.epoch += new_life;
      e.record_incarnation = e.incarnation = new_life ? 1 : e.incarnation + 1;
      const auto state = drawn_state();
      if (new_life || state != e.state) e.since = now;
      e.state = state;
      table.change(e.id, make(name, e.epoch, e.incarnation), e.incarnation, state, now, random);
    } else if (chosen < 9) {  // a claim about it
      twin::entry& e = found->second;
      e.incarnation += random.below(2);
      const auto state = drawn_state();
      if (state != e.state) e.since = now;
      e.state = state;
      table.change(e.id, nullptr, e.incarnation, state, now, random);
    } else {
      table.next_in_round(random);
    }
    compare(table, expected);
  }
}

TEST_CASE("the digest tells neither order nor states nor graves, but lives and incarnations",
          "[swim]") {
  base::rng random(1);
  member_table one, two;
  const row_id a = one.insert(make("a"), 1, member_state::alive, true, start, random);
  one.insert(make("b"), 1, member_state::alive, true, start, random);
  two.insert(make("b"), 1, member_state::suspect, true, start, random);
  two.insert(make("a"), 1, member_state::alive, true, start, random);
  two.insert(make("gone"), 1, member_state::failed, true, start, random);
  two.insert(make("left"), 1, member_state::left, true, start, random);
  CHECK(one.digest() == two.digest());
  const auto before = one.digest();
  one.change(a, nullptr, 2, member_state::suspect, start, random);  // a claim, not a change of "a"
  CHECK(one.digest() == before);
  one.change(a, make("a", 1, 2), 2, member_state::alive, start, random);
  CHECK(one.digest() != before);
  const auto second = one.digest();
  one.change(a, make("a", 2, 1), 1, member_state::alive, start, random);
  CHECK(one.digest() != before);
  CHECK(one.digest() != second);
}

TEST_CASE("each round probes every member once", "[swim]") {
  base::rng random(5);
  for (const std::size_t size : {1u, 2u, 3u, 10u, 100u}) {
    member_table table = with(size, random);
    for (int round = 0; round < 20; ++round) {
      std::set<row_id> probed;
      for (std::size_t i = 0; i < size; ++i)
        probed.insert(table.next_in_round(random));
      CHECK(probed.size() == size);
    }
  }
}

TEST_CASE("rounds are shuffled anew", "[swim]") {
  base::rng random(6);
  member_table table = with(10, random);
  std::set<std::vector<row_id>> orders;
  for (int round = 0; round < 50; ++round) {
    std::vector<row_id> order;
    for (int i = 0; i < 10; ++i)
      order.push_back(table.next_in_round(random));
    orders.insert(order);
  }
  CHECK(orders.size() == 50);
}

TEST_CASE("no member waits longer than 2n - 1 probes for its turn, though others come and go",
          "[swim]") {
  // SWIM 4.3. `n` counts everybody who was there while it waited.
  const auto seed = GENERATE(1u, 2u, 3u);
  const bool churn = GENERATE(false, true);
  CAPTURE(seed, churn);
  base::rng random(seed);
  member_table table = with(12, random);
  struct turn {
    std::size_t waited, seen;
  };
  std::map<row_id, turn> waiting;
  for (const row_id id : table.others())
    waiting[id] = {0, 12};
  std::size_t longest = 0;
  std::uint64_t name = 100;
  for (int step = 0; step < 20'000; ++step) {
    if (churn && random.chance(1, 3)) {
      const std::size_t present = table.others().size();
      if (present < 8 || (present < 20 && random.chance(1, 2))) {
        const row_id id = table.insert(make("n" + std::to_string(++name)), 1, member_state::alive,
                                       true, start, random);
        for (auto& [other, t] : waiting)
          ++t.seen;
        waiting[id] = {0, present + 1};
      } else {
        const row_id id = table.random_other(random);
        waiting.erase(id);
        table.change(id, nullptr, 1, member_state::failed, start, random);
        table.erase(id);
      }
    }
    const row_id probed = table.next_in_round(random);
    for (auto& [id, t] : waiting) {
      if (++t.waited > 2 * t.seen - 1) FAIL(id << " waits since " << t.waited << " probes");
    }
    longest = std::max(longest, waiting[probed].waited);
    waiting[probed] = {0, table.others().size()};
  }
  CHECK(longest > 12);  // more than one round does happen
}

TEST_CASE("one that leaves in the middle of a round costs nobody else the turn", "[swim]") {
  base::rng random(9);
  for (int run = 0; run < 200; ++run) {
    member_table table = with(8, random);
    std::set<row_id> probed;
    for (int i = 0; i < 4; ++i)
      probed.insert(table.next_in_round(random));
    const row_id gone = table.random_other(random);
    table.change(gone, nullptr, 1, member_state::failed, start, random);
    const std::size_t rest = probed.count(gone) != 0 ? 4 : 3;
    for (std::size_t i = 0; i < rest; ++i)
      CHECK(probed.insert(table.next_in_round(random)).second);
    probed.erase(gone);
    CHECK(probed.size() == 7);
  }
}

TEST_CASE("one that joins in the middle of a round stands at a random place (SWIM 4.3)", "[swim]") {
  base::rng random(10);
  std::map<std::size_t, int> places;
  for (int run = 0; run < 8'000; ++run) {
    member_table table = with(7, random);
    const row_id id = table.insert(make("new"), 1, member_state::alive, true, start, random);
    ++places[table.at(id).order_slot];
  }
  CHECK(places.size() == 8);
  for (const auto& [place, times] : places) {  // 1000 each; five standard deviations are 148
    CHECK(times > 852);
    CHECK(times < 1148);
  }
}

TEST_CASE("ourselves are in the digest but never drawn", "[swim]") {
  base::rng random(11);
  member_table table;
  const row_id self = table.insert(make("self"), 1, member_state::alive, false, start, random);
  CHECK(table.present() == 1);
  CHECK(table.digest() != 0);
  CHECK(table.next_in_round(random) == no_row);
  CHECK(table.random_other(random) == no_row);
  const row_id other = table.insert(make("other"), 1, member_state::alive, true, start, random);
  table.change(self, nullptr, 1, member_state::left, start, random);
  table.change(self, make("self", 2), 1, member_state::alive, start, random);
  for (int i = 0; i < 20; ++i)
    CHECK(table.next_in_round(random) == other);
}

TEST_CASE("the oldest grave is the one that fell first; who came back has none", "[swim]") {
  base::rng random(12);
  member_table table = with(4, random);
  const row_id a = table.find("n0"), b = table.find("n1"), c = table.find("n2");
  table.change(a, nullptr, 1, member_state::failed, start + 1s, random);
  table.change(b, nullptr, 1, member_state::left, start + 2s, random);
  table.change(c, nullptr, 1, member_state::failed, start + 3s, random);
  CHECK(table.oldest_grave() == a);
  table.change(a, make("n0", 1, 2), 2, member_state::alive, start + 4s, random);
  CHECK(table.oldest_grave() == b);
  table.change(a, nullptr, 2, member_state::failed, start + 5s, random);
  table.erase(b);
  CHECK(table.oldest_grave() == c);
  table.erase(c);
  CHECK(table.oldest_grave() == a);
  table.erase(a);
  CHECK(table.oldest_grave() == no_row);
  CHECK(table.graves() == 0);
}

TEST_CASE("a failed member is drawn among the newest graves, a left one never", "[swim]") {
  base::rng random(13);
  member_table table = with(10, random);
  for (std::size_t i = 0; i < 9; ++i) {
    const row_id id = table.find("n" + std::to_string(i));
    const bool left = i % 3 == 0;
    table.change(id, nullptr, 1, left ? member_state::left : member_state::failed,
                 start + std::chrono::seconds(i), random);
  }
  std::set<std::string> drawn;
  for (int i = 0; i < 500; ++i)
    drawn.insert(table.at(table.random_failed(random, 4)).subject->name);
  CHECK(drawn == std::set<std::string>{"n5", "n7", "n8"});  // of n5 .. n8 without n6
  drawn.clear();
  for (int i = 0; i < 500; ++i)
    drawn.insert(table.at(table.random_failed(random, 1000)).subject->name);
  CHECK(drawn.size() == 6);
}

TEST_CASE("who was heard is remembered within a life, not beyond it", "[swim]") {
  base::rng random(14);
  member_table table = with(1, random);
  const row_id id = table.find("n0");
  CHECK_FALSE(table.at(id).ever_heard);
  table.mark_heard(id, start + 1s, true);
  CHECK(table.at(id).ever_heard);
  CHECK(table.at(id).heard == start + 1s);
  CHECK(table.at(id).agrees);
  table.change(id, nullptr, 1, member_state::suspect, start + 2s, random);
  CHECK(table.at(id).ever_heard);
  table.change(id, make("n0", 2), 1, member_state::alive, start + 3s, random);
  CHECK_FALSE(table.at(id).ever_heard);
  CHECK_FALSE(table.at(id).agrees);
}
