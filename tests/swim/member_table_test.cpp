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
