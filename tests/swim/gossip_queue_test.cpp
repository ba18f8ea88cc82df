// What the gossip queue promises: nothing is lost, nothing is sent too often, nobody starves, and
// no packet grows past its budget (SWIM 4.1).
#include "swim/gossip_queue.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace lifering::swim;
using lifering::base::rng;

namespace {

constexpr std::size_t plenty = 100'000;

/// News about row `subject`, told apart by its incarnation.
update news(row_id subject, std::uint64_t number, update_kind kind = update_kind::left,
            std::size_t name_length = 6) {
  record about;
  about.name = std::to_string(subject);
  about.name.resize(name_length, '-');
  about.epoch = 1;
  update made;
  made.kind = kind;
  made.subject = std::make_shared<const record>(std::move(about));
  made.incarnation = number;
  return made;
}

update suspicion_of(row_id subject, const std::string& by) {
  update made = news(subject, 1, update_kind::suspect);
  made.accuser = by;
  made.accuser_epoch = 1;
  return made;
}

std::size_t bytes(const std::vector<update>& updates) {
  std::size_t sum = 0;
  for (const update& u : updates)
    sum += size_bound(u);
  return sum;
}

std::vector<std::string> names(const std::vector<update>& updates) {
  std::vector<std::string> found;
  for (const update& u : updates)
    found.emplace_back(u.subject_name().substr(0, u.subject_name().find('-')));
  return found;
}

std::vector<update> take(gossip_queue& queue, std::size_t budget, unsigned limit,
                         row_id except = no_row) {
  std::vector<update> out;
  const std::size_t used = queue.take(budget, limit, except, out);
  CHECK(bytes(out) <= used);
  CHECK(used <= budget);
  return out;
}

constexpr auto classes = {gossip_class::leave, gossip_class::failure,    gossip_class::suspicion,
                          gossip_class::join,  gossip_class::refutation, gossip_class::metadata};

}  // namespace

TEST_CASE("news is sent exactly as often as the limit says", "[swim]") {
  for (const auto kind : classes) {
    gossip_queue queue;
    queue.put(3, kind, news(3, 1));
    for (unsigned i = 0; i < 5; ++i)
      CHECK(take(queue, plenty, 5).size() == 1);
    CHECK(take(queue, plenty, 5).empty());
    CHECK(queue.size() == 0);
  }
}

TEST_CASE("a newer piece about a subject replaces the older one and starts afresh", "[swim]") {
  gossip_queue queue;
  queue.put(3, gossip_class::join, news(3, 1));
  take(queue, plenty, 4);
  take(queue, plenty, 4);
  CHECK(queue.fresh() == 0);
  queue.put(3, gossip_class::leave, news(3, 2));
  CHECK(queue.size() == 1);
  CHECK(queue.fresh() == 1);
  for (int i = 0; i < 4; ++i) {
    const auto sent = take(queue, plenty, 4);
    REQUIRE(sent.size() == 1);
    CHECK(sent.front().incarnation == 2);
  }
  CHECK(queue.size() == 0);
}

TEST_CASE("every piece of news is sent to its limit, superseded or removed; none is lost",
          "[swim]") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  CAPTURE(seed);
  rng random(seed);
  gossip_queue queue;
  constexpr unsigned limit = 6;
  struct fate {
    std::uint64_t number;
    unsigned sent;
  };
  std::map<std::string, fate> waiting;  // what must still be in the queue
  std::uint64_t number = 0;
  std::size_t completed = 0;
  for (int step = 0; step < 20'000; ++step) {
    const auto subject = static_cast<row_id>(random.below(30));
    const std::string name = names({news(subject, 0)}).front();
    const auto chosen = random.below(10);
    if (chosen < 3) {
      const auto kind = *(classes.begin() + random.below(classes.size()));
      queue.put(subject, kind, news(subject, ++number, update_kind::left, 6 + random.below(60)));
      waiting[name] = {number, 0};
    } else if (chosen == 3) {
      queue.remove(subject);
      waiting.erase(name);
    } else {
      const row_id except = random.chance(1, 4) ? subject : no_row;
      const auto sent = take(queue, random.below(600), limit, except);
      std::set<std::string> once;
      for (const update& u : sent) {
        const std::string about = names({u}).front();
        REQUIRE(once.insert(about).second);
        REQUIRE((except == no_row || about != name));
        const auto entry = waiting.find(about);
        REQUIRE(entry != waiting.end());
        REQUIRE(entry->second.number == u.incarnation);  // never superseded news
        if (++entry->second.sent == limit) {
          waiting.erase(entry);
          ++completed;
        }
      }
    }
    REQUIRE(queue.size() == waiting.size());
    REQUIRE(queue.fresh() ==
            static_cast<std::size_t>(std::count_if(waiting.begin(), waiting.end(),
                                                   [](auto& w) { return w.second.sent == 0; })));
  }
  CHECK(completed > 100);
  for (int i = 0; i < 10'000 && queue.size() > 0; ++i) {
    for (const update& u : take(queue, 600, limit))
      ++waiting[names({u}).front()].sent;
  }
  CHECK(queue.size() == 0);
  for (const auto& [name, fate] : waiting)
    CHECK(fate.sent == limit);
}

TEST_CASE("what was sent least often goes first, the freshest first among equals", "[swim]") {
  gossip_queue queue;
  const std::size_t two = 2 * size_bound(news(1, 1));
  queue.put(1, gossip_class::join, news(1, 1));
  queue.put(2, gossip_class::join, news(2, 1));
  queue.put(3, gossip_class::join, news(3, 1));
  CHECK(names(take(queue, two, 9)) == std::vector<std::string>{"3", "2"});
  CHECK(names(take(queue, two, 9)) == std::vector<std::string>{"1", "3"});
  CHECK(names(take(queue, two, 9)) == std::vector<std::string>{"2", "1"});
  queue.put(4, gossip_class::join, news(4, 1));
  CHECK(names(take(queue, two, 9)).front() == "4");
}

TEST_CASE("no piece falls behind another of its class by more than one sending", "[swim]") {
  gossip_queue queue;
  std::map<std::string, int> sent;
  for (row_id id = 0; id < 50; ++id) {
    queue.put(id, gossip_class::metadata, news(id, 1));
    sent[names({news(id, 1)}).front()] = 0;
  }
  for (int packet = 0; packet < 100; ++packet) {
    for (const auto& name : names(take(queue, 300, 60)))
      ++sent[name];
    const auto [least, most] = std::minmax_element(
        sent.begin(), sent.end(), [](auto& a, auto& b) { return a.second < b.second; });
    REQUIRE(most->second - least->second <= 1);
  }
}

TEST_CASE("a flood of one class leaves every other class its share of each packet", "[swim]") {
  constexpr std::size_t budget = 1200;
  const std::size_t size = size_bound(news(1000, 1));
  const std::map<gossip_class, std::size_t> percent{
      {gossip_class::leave, 15},      {gossip_class::failure, 20}, {gossip_class::suspicion, 15},
      {gossip_class::refutation, 15}, {gossip_class::join, 15},    {gossip_class::metadata, 10}};
  for (const auto flood : classes) {
    for (const auto victim : classes) {
      if (flood == victim) continue;
      gossip_queue queue;
      for (row_id id = 1000; id < 2000; ++id)
        queue.put(id, flood, news(id, 1));
      for (row_id id = 2000; id < 2100; ++id)
        queue.put(id, victim, news(id, 1));
      const auto sent = names(take(queue, budget, 20));
      const auto got = static_cast<std::size_t>(std::count_if(
          sent.begin(), sent.end(), [](const std::string& n) { return n >= "2000"; }));
      CAPTURE(static_cast<int>(flood), static_cast<int>(victim));
      CHECK(got >= budget * percent.at(victim) / 100 / size);
      CHECK(sent.size() >= budget / size - 1);  // and the packet is full
    }
  }
}

TEST_CASE("a share that its class doesn't use goes to the most urgent others", "[swim]") {
  gossip_queue queue;
  for (row_id id = 0; id < 100; ++id) {
    queue.put(id, gossip_class::metadata, news(id, 1));
    queue.put(100 + id, gossip_class::leave, news(100 + id, 1));
  }
  const std::size_t size = size_bound(news(100, 1));
  const auto sent = names(take(queue, 20 * size, 20));
  const auto leaves = std::count_if(sent.begin(), sent.end(),
                                    [](const std::string& n) { return std::stoi(n) >= 100; });
  CHECK(leaves == 18);  // all but the tenth that is reserved for metadata
  CHECK(sent.size() == 20);
}

TEST_CASE("a budget too small for anything takes nothing and loses nothing", "[swim]") {
  gossip_queue queue;
  queue.put(1, gossip_class::leave, news(1, 1));
  CHECK(take(queue, 0, 5).empty());
  CHECK(take(queue, size_bound(news(1, 1)) - 1, 5).empty());
  CHECK(queue.size() == 1);
  CHECK(take(queue, size_bound(news(1, 1)), 5).size() == 1);
}

TEST_CASE("news about the receiver itself is left out and keeps its place", "[swim]") {
  gossip_queue queue;
  queue.put(1, gossip_class::leave, news(1, 1));
  CHECK(take(queue, plenty, 5, 1).empty());
  CHECK(queue.fresh() == 1);
  CHECK(take(queue, plenty, 5, 2).size() == 1);
}

TEST_CASE("a suspicion goes out in the name of each accuser in turn, the newest first", "[swim]") {
  gossip_queue queue;
  queue.put(1, gossip_class::suspicion, suspicion_of(1, "anna"));
  CHECK(take(queue, plenty, 20).front().accuser == "anna");
  queue.add_accuser(1, "bertha", 7, true);
  queue.add_accuser(1, "carl", 8, false);
  CHECK(queue.fresh() == 1);
  std::vector<std::string> accusers;
  for (int i = 0; i < 6; ++i) {
    const update sent = take(queue, plenty, 20).front();
    accusers.push_back(sent.accuser);
    if (sent.accuser == "bertha") {
      CHECK(sent.accuser_epoch == 7);
      CHECK(sent.refused);
    }
  }
  CHECK(accusers == std::vector<std::string>{"carl", "bertha", "anna", "carl", "bertha", "anna"});
}

TEST_CASE("each new accuser sends a suspicion afresh; altogether (K + 1) times the limit",
          "[swim]") {
  // Lifeguard IV-B: up to (K + 1) * lambda * log n sends.
  gossip_queue queue;
  queue.put(1, gossip_class::suspicion, suspicion_of(1, "a"));
  int sent = 0;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 7; ++i)
      sent += static_cast<int>(take(queue, plenty, 8).size());
    if (k < 3) queue.add_accuser(1, "b" + std::to_string(k), 1, false);
  }
  while (queue.size() > 0)
    sent += static_cast<int>(take(queue, plenty, 8).size());
  CHECK(sent == 7 * 3 + 8);
}

TEST_CASE("accusers of longer names stay within the budget", "[swim]") {
  gossip_queue queue;
  queue.put(1, gossip_class::suspicion, suspicion_of(1, "a"));
  queue.add_accuser(1, std::string(200, 'x'), ~std::uint64_t{0}, true);
  for (std::size_t budget = 0; budget < 400; ++budget) {
    std::vector<update> out;
    const std::size_t used = queue.take(budget, 60, no_row, out);
    REQUIRE(bytes(out) <= used);
    REQUIRE(used <= budget);
  }
}

TEST_CASE("accusers of a suspicion are bounded, and none is added to other news", "[swim]") {
  gossip_queue queue;
  queue.put(1, gossip_class::suspicion, suspicion_of(1, "a0"));
  for (int i = 1; i < 100; ++i)
    queue.add_accuser(1, "a" + std::to_string(i), 1, false);
  std::set<std::string> accusers;
  for (int i = 0; i < 50; ++i)
    accusers.insert(take(queue, plenty, 60).front().accuser);
  CHECK(accusers.size() == suspicion::accusers_max);
  queue.put(2, gossip_class::failure, news(2, 1));
  queue.add_accuser(2, "late", 1, false);
  queue.add_accuser(77, "nobody", 1, false);
  for (int i = 0; i < 5; ++i) {
    for (const update& u : take(queue, plenty, 60, 1))
      CHECK(u.accuser.empty());
  }
}

TEST_CASE("slots are reused: a long life needs no more of them than its busiest moment", "[swim]") {
  // Seen through the records: the queue lets go of what it no longer needs.
  gossip_queue queue;
  std::weak_ptr<const record> last;
  for (int i = 0; i < 100; ++i) {
    record said;
    said.name = "m";
    said.incarnation = static_cast<std::uint64_t>(i);
    update made;
    made.subject = std::make_shared<const record>(said);
    last = made.subject;
    queue.put(1, gossip_class::metadata, made);
  }
  CHECK(queue.size() == 1);
  CHECK_FALSE(last.expired());
  queue.remove(1);
  CHECK(last.expired());
}

TEST_CASE(
    "what is shown doesn't count as sent, keeps to its budget and begins with the most urgent",
    "[swim]") {
  gossip_queue queue;
  queue.put(1, gossip_class::join, news(1, 1));
  queue.put(2, gossip_class::leave, news(2, 1));
  queue.put(3, gossip_class::join, news(3, 1));
  take(queue, size_bound(news(2, 1)), 12);  // 2 was sent once
  std::vector<update> shown;
  queue.show(plenty, shown);
  CHECK(names(shown) == std::vector<std::string>{"2", "3", "1"});
  CHECK(queue.fresh() == 2);
  shown.clear();
  queue.show(size_bound(news(2, 1)), shown);
  CHECK(names(shown) == std::vector<std::string>{"2"});
  for (int i = 0; i < 11; ++i)
    CHECK(names(take(queue, plenty, 12)).size() == 3);
}

TEST_CASE("when the limit falls, what was sent that often already goes", "[swim]") {
  // The cluster shrank past a power of ten. What stayed would be news for ever.
  gossip_queue queue;
  queue.put(1, gossip_class::leave, news(1, 1));
  queue.put(2, gossip_class::leave, news(2, 1));
  for (int i = 0; i < 9; ++i)
    take(queue, plenty, 12, i < 4 ? 2 : no_row);
  CHECK(names(take(queue, plenty, 8)) == std::vector<std::string>{"2"});  // was sent five times
  CHECK(queue.size() == 1);
}

TEST_CASE("news that fits into no packet isn't queued, nor is what it replaces kept", "[swim]") {
  gossip_queue queue(size_bound(news(1, 1)));
  queue.put(1, gossip_class::leave, news(1, 1));
  CHECK(queue.size() == 1);
  queue.put(1, gossip_class::leave, news(1, 2, update_kind::left, 7));
  CHECK(queue.size() == 0);
  CHECK(queue.fresh() == 0);
}
