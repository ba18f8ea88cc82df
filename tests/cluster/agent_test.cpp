// Stories of separate processes on real sockets, as an operator sees them.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "cluster/stories.hpp"
#include "support/catch.hpp"
#include "support/sanitized.hpp"

using namespace lifering_test;

namespace {

using words = agent::words;

constexpr int key_count = 500;

std::map<std::string, std::string> owners_of_all(agent& by) {
  std::map<std::string, std::string> result;
  for (int i = 0; i < key_count; ++i) {
    const std::string key = "key-" + std::to_string(i);
    result[key] = by.owner(key);
  }
  return result;
}

}  // namespace

TEST_CASE("a killed agent's keys alone move, and come back with it", "[agent]") {
  auto all = form_cluster(5);
  const auto before = owners_of_all(*all[0]);
  CHECK(owners_of_all(*all[4]) == before);
  const auto fingerprint = all[0]->fingerprint();

  const auto address = all[2]->address();
  all[2]->kill();
  all.erase(all.begin() + 2);
  for (auto& survivor : all)
    survivor->wait_for_event("failed", "n2");
  await_agreement(all, 4);
  for (const auto& [key, owner] : owners_of_all(*all[0])) {
    if (before.at(key) != "n2") CHECK(owner == before.at(key));
    CHECK(owner != "n2");
  }

  all.push_back(
      std::make_unique<agent>("n2", agent::words{all[0]->address()}, agent::words{}, address));
  await_agreement(all, 5);
  check_stories(all, "n2", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n2"});
  CHECK(all[0]->fingerprint() == fingerprint);
  CHECK(owners_of_all(*all[4]) == before);
}

TEST_CASE("an agent that leaves is reported as left and never as failed", "[agent]") {
  auto all = form_cluster(4);
  const auto word = GENERATE(as<std::string>{}, "leave", "SIGTERM", "SIGINT");
  auto gone = std::move(all.back());
  all.pop_back();
  if (word == "leave") {
    gone->own().write("leave\n");
  } else {
    gone->own().signal(word == "SIGTERM" ? SIGTERM : SIGINT);
  }
  CHECK(gone->exit_code() == 0);
  const auto last = json::parse(gone->own().lines().back());
  const auto& answer =
      last.has("left") ? last
                       : json::parse(*gone->own().wait_for_line(
                             [](const std::string& line) { return line.starts_with("{\"left\""); },
                             agent_patience));
  CHECK(answer["left"].boolean());
  CHECK(answer["acknowledged"].number() >= 1);
  for (auto& each : all)
    each->wait_for_event("left", "n3");
  await_agreement(all, 3);
  check_stories(all, "n3", {"joined", "left"});
  check_nothing_else(all, {"n3"});
}

TEST_CASE("a stopped process is reported as failed, and comes back when it goes on", "[agent]") {
  auto all = form_cluster(4);
  const auto fingerprint = all[0]->fingerprint();
  auto& stopped = *all[1];
  stopped.own().signal(SIGSTOP);
  for (auto& each : all) {
    if (each.get() != &stopped) each->wait_for_event("failed", "n1");
  }
  stopped.own().signal(SIGCONT);
  await_agreement(all, 4);
  CHECK(all[0]->fingerprint() == fingerprint);
  check_stories(all, "n1", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n1"});  // It accused nobody when it woke.
}

TEST_CASE("a restart under the same name is another life, and moves no key in the end", "[agent]") {
  auto all = form_cluster(3);
  const auto fingerprint = all[0]->fingerprint();
  const auto epoch = [&](const std::string& name) -> double {
    const json members = all[0]->ask("members")["members"];
    for (const auto& member : members.items()) {
      if (member["name"].text() == name) return member["epoch"].number();
    }
    return 0;
  };
  const double first = epoch("n2");
  const bool same_port = GENERATE(true, false);
  all[2]->kill();
  const std::string bind = same_port ? all[2]->address() : any_port();
  all[2] = std::make_unique<agent>("n2", agent::words{all[0]->address()}, agent::words{}, bind);
  // The others may hold the old life for a moment, and agree all the same.
  CHECK(eventually([&] { return epoch("n2") > first; }));
  await_agreement(all, 3);
  CHECK(all[0]->fingerprint() == fingerprint);
  for (const std::size_t each : {std::size_t{0}, std::size_t{1}}) {
    CHECK(eventually([&] {
      const auto story = all[each]->changes_of("n2");
      return story == words{"joined", "updated"} || story == words{"joined", "failed", "joined"};
    }));
  }
  check_nothing_else(all, {"n2"});
}

TEST_CASE("metadata and weight are changed at run time and seen by all", "[agent]") {
  auto all = form_cluster(3, {"--meta", "before", "--zone", "z1"});
  CHECK(all[1]->ask("set-meta after all")["ok"].boolean());
  const auto updated = all[0]->wait_for_event("updated", "n1");
  CHECK(updated["member"]["meta"].text() == "after all");
  CHECK(updated["member"]["zone"].text() == "z1");
  const auto since = all[0]->line_count();
  CHECK(all[1]->ask("set-weight 0")["ok"].boolean());
  CHECK(all[0]->wait_for_event("updated", "n1", since)["member"]["weight"].number() == 0);
  await_agreement(all, 3);
  for (const auto& [key, owner] : owners_of_all(*all[0]))
    CHECK(owner != "n1");
  CHECK(all[1]->ask("set-weight 0.005").has("error"));
  CHECK(all[1]->ask("set-meta " + std::string(16385, 'x')).has("error"));
}

TEST_CASE("messages of each way are events of those whom they were for", "[agent]") {
  auto all = form_cluster(3);
  const auto heard = [&](std::size_t by, const std::string& text) {
    const auto line = all[by]->own().wait_for_line(
        [&](const std::string& each) {
          return each.starts_with("{\"event\":\"message\"") &&
                 json::parse(each)["text"].text() == text;
        },
        agent_patience);
    if (!line) throw std::runtime_error("never heard: " + text);
    return json::parse(*line);
  };
  CHECK(all[1]->ask("send n0 by datagram, \xff\xe2\x82\xac")["ok"].boolean());
  const auto direct = heard(0, "by datagram, \xff\xe2\x82\xac");
  CHECK(direct["from"].text() == "n1");
  CHECK(direct["kind"].text() == "direct");
  CHECK(direct["t"].number() > 1.6e9);
  const std::string large(200'000, 'x');
  CHECK(all[2]->ask("send-reliably n0 " + large)["ok"].boolean());
  CHECK(heard(0, large)["kind"].text() == "reliable");
  for (const auto* words : {"send", "send-reliably", "send  text"}) {
    const std::string error = all[0]->ask(words)["error"].text();
    CHECK(error == "a message needs the name of a member and a text");
  }
  CHECK(all[0]->ask("broadcast to all of you")["ok"].boolean());
  for (const std::size_t each : {std::size_t{1}, std::size_t{2}}) {
    CHECK(heard(each, "to all of you")["kind"].text() == "broadcast");
    CHECK(heard(each, "to all of you")["from"].text() == "n0");
  }
}

TEST_CASE("an agent that isn't ready, drains or isn't well owns nothing and stays a member",
          "[agent]") {
  agent first("n0");
  agent second("n1", {first.address()}, {"--not-ready"});
  const auto phase = [&] {
    const json members = first.ask("members")["members"];
    return members.size() < 2 ? std::string() : members[1]["phase"].text();
  };
  const auto reaches = [&](const std::string& wanted) {
    const auto end = process::clock::now() + agent_patience;
    while (phase() != wanted && process::clock::now() < end) {
    }
    return phase() == wanted;
  };
  const auto owns_keys = [&] {
    for (int i = 0; i < 100; ++i) {
      if (first.owner("key-" + std::to_string(i)) == "n1") return true;
    }
    return false;
  };
  REQUIRE(reaches("joining"));
  CHECK_FALSE(owns_keys());
  CHECK(second.ask("ready")["ok"].boolean());
  REQUIRE(reaches("serving"));
  CHECK(owns_keys());
  CHECK(second.ask("drain")["ok"].boolean());
  REQUIRE(reaches("draining"));
  CHECK_FALSE(owns_keys());
  CHECK(second.ask("ready")["ok"].boolean());
  REQUIRE(reaches("serving"));
  CHECK(second.ask("health bad")["ok"].boolean());
  REQUIRE(reaches("draining"));
  CHECK_FALSE(owns_keys());
  CHECK(second.ask("set-service 10.0.0.9:80")["ok"].boolean());
  first.wait_for_event("updated", "n1");
  CHECK(first.count_events("failed", "n1") == 0);
  CHECK(first.count_events("left", "n1") == 0);
}

TEST_CASE("agreement and graves tell what the others hold and who is gone", "[agent]") {
  auto all = form_cluster(3);
  const auto end = process::clock::now() + agent_patience;
  const auto agreement = [&] { return all[0]->ask("agreement")["agreement"]; };
  while (agreement()["agreeing"].number() < 2 && process::clock::now() < end) {
  }
  CHECK(agreement()["agreeing"].number() == 2);
  CHECK(agreement()["unheard"].number() == 0);
  CHECK(agreement()["fingerprint"].text() == all[0]->fingerprint());
  CHECK(agreement()["agreed_ms"].number() >= 0);
  all[2]->kill();
  all[0]->wait_for_event("failed", "n2");
  const auto grave = [&] { return all[0]->ask("graves")["graves"]; };
  while (grave().size() == 0 && process::clock::now() < end) {
  }
  REQUIRE(grave().size() == 1);
  CHECK(grave()[0]["name"].text() == "n2");
  CHECK(grave()[0]["state"].text() == "failed");
  CHECK(all[0]->ask("forget n2")["ok"].boolean());
  while (grave()[0]["state"].text() != "left" && process::clock::now() < end) {
  }
  CHECK(grave()[0]["state"].text() == "left");
}

TEST_CASE("events carry what they are about, and rings their fingerprint", "[agent]") {
  auto all = form_cluster(2, {"--service", "10.9.8.7:80", "--weight", "2.5"});
  const auto joined = all[0]->wait_for_event("joined", "n1");
  CHECK(joined["t"].number() > 1.6e9);
  const auto& member = joined["member"];
  CHECK(member["address"].text() == all[1]->address());
  CHECK(member["service"].text() == "10.9.8.7:80");
  CHECK(member["weight"].number() == 2.5);
  CHECK(member["epoch"].number() > 0);
  CHECK(member["incarnation"].number() >= 1);
  CHECK(member["state"].text() == "alive");
  std::string last;
  for (const auto& line : all[0]->own().lines()) {
    if (line.starts_with("{\"event\":\"ring\"")) last = line;
  }
  const auto ring = json::parse(last);
  CHECK(ring["fingerprint"].text() == all[0]->fingerprint());
  CHECK(ring["fingerprint"].text().size() == 16);
  CHECK(ring["members"].number() == 2);
  CHECK(ring["moved"].number() > 0.3);
  CHECK(ring["moved"].number() < 0.7);
}

TEST_CASE("the second replica of a key takes over when its owner is gone", "[agent]") {
  auto all = form_cluster(4);
  const auto owners = all[0]->ask("owners some key 2")["owners"];
  REQUIRE(owners.size() == 2);
  CHECK(owners[0].text() == all[0]->owner("some key"));
  for (auto each = all.begin(); each != all.end(); ++each) {
    if ((*each)->name() == owners[0].text()) {
      (*each)->kill();
      all.erase(each);
      break;
    }
  }
  await_agreement(all, 3);
  CHECK(all[0]->owner("some key") == owners[1].text());
}

TEST_CASE("many that die at once become few rings, the first of them without delay", "[agent]") {
  auto all = form_cluster(9);
  // The joins were changes too: the ring is quiet when 0.3 s have passed since the last one.
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  std::vector<std::size_t> before;
  for (auto& each : all)
    before.push_back(each->line_count());
  for (std::size_t i = 4; i < all.size(); ++i)
    all[i]->own().signal(SIGKILL);
  all.resize(4);
  for (auto& each : all) {
    for (const auto* gone : {"n4", "n5", "n6", "n7", "n8"})
      each->wait_for_event("failed", gone);
  }
  await_agreement(all, 4);
  double quickest = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double> times;
    double first_failure = 0;
    const auto& lines = all[i]->own().lines();
    for (std::size_t at = before[i]; at < lines.size(); ++at) {
      if (!lines[at].starts_with("{\"event\"")) continue;
      const auto event = json::parse(lines[at]);
      if (event["event"].text() == "ring") times.push_back(event["t"].number());
      if (event["event"].text() == "failed" && first_failure == 0) {
        first_failure = event["t"].number();
      }
    }
    INFO(all[i]->name() << " published " << times.size() << " rings");
    CHECK(times.size() >= 1);
    CHECK(times.size() <= 5);
    quickest = std::min(quickest, times.front() - first_failure);
    for (std::size_t next = 1; next < times.size(); ++next)
      CHECK(times[next] - times[next - 1] >= 0.29);
  }
  if (!is_sanitized) CHECK(quickest < 0.25);
}

TEST_CASE("names and keys that are no UTF-8 come back as they were given", "[agent]") {
  const std::string odd = "n\xff\x80\xc3(\xed\xa0\x80\"\\\x01\xe2\x82\xac";
  agent first("n0");
  agent second(odd, {first.address()});
  first.wait_for_event("joined", odd);
  const auto answer = first.ask("owner \xfe \xc0\xaf");
  CHECK(answer["key"].text() == "\xfe \xc0\xaf");
  bool found = false;
  const auto members = first.ask("members")["members"];
  for (const auto& each : members.items())
    found = found || each["name"].text() == odd;
  CHECK(found);
}

TEST_CASE("an agent whose reader is stuck stays a member, and ends when told to", "[agent]") {
  auto all = form_cluster(3);
  auto& stuck = *all[2];
  std::string many;
  for (int i = 0; i < 4000; ++i)
    many += "members\n";  // Far more answers than a pipe holds.
  stuck.own().write(many);
  agent late("late", {all[0]->address()});
  all[0]->wait_for_event("joined", "late");
  all[1]->wait_for_event("joined", "late");
  CHECK(all[0]->count_events("failed", "n2") == 0);
  stuck.own().signal(SIGTERM);
  // Not reading: exit_code() would drain the pipe.
  all[0]->wait_for_event("left", "n2");
}

namespace {

struct trap {
  agent::words placement;
  std::string first, second;  ///< Names that it can't tell apart.
  std::string sentence;       ///< What is said of them.
};

std::vector<trap> all_traps() {
  std::vector<trap> all{{{"--placement=classic", "--label={node}{i}"},
                         "a",
                         "a1",
                         "\"a1\" and \"a\" have labels in common"}};
#if defined(LIFERING_COMPAT)
  all.push_back({{"--placement=haproxy:key=addr"},
                 "10.0.0.1:1",
                 "10.0.0.1:2",
                 "\"10.0.0.1:1\" and \"10.0.0.1:2\" are both \"10.0.0.1:0\" there"});
#endif
  return all;
}

/// How often an agent has said it, once it was `wanted` times or patience is at an end.
std::size_t await_times(agent& of, const std::string& sentence, std::size_t wanted) {
  const auto end = process::clock::now() + agent_patience;
  for (;;) {
    of.ask("fingerprint");
    const std::string& said = of.own().errors();
    std::size_t times = 0;
    for (auto at = said.find(sentence); at != said.npos; at = said.find(sentence, at + 1))
      ++times;
    if (times >= wanted || process::clock::now() > end) return times;
  }
}

}  // namespace

TEST_CASE("members that the placement can't tell apart are warned of, once each time", "[agent]") {
  for (const auto& [placement, first, second, sentence] : all_traps()) {
    CAPTURE(first);
    agent one(first, {}, placement);
    agent other("10.0.0.2:1", {one.address()}, placement);
    one.wait_for_event("joined", other.name());
    auto words = placement;
    words.push_back("--log=error");
    agent twin(second, {one.address()}, words);
    CHECK(await_times(one, sentence, 1) == 1);
    CHECK(one.own().errors().find("lifering-agent: warning: ") != std::string::npos);

    // Further rings say nothing that is known; one without the twin ends it.
    const auto since = one.line_count();
    CHECK(other.ask("set-weight 2")["ok"].boolean());
    one.wait_for_event("updated", other.name(), since);
    CHECK(twin.ask("drain")["ok"].boolean());
    one.wait_for_event("updated", twin.name(), since);
    CHECK(await_times(one, sentence, 1) == 1);
    CHECK(twin.ask("ready")["ok"].boolean());
    CHECK(await_times(one, sentence, 2) == 2);
    CHECK(await_times(twin, sentence, 0) == 0);  // Its log has no warnings.
  }
}

#if defined(LIFERING_COMPAT)
TEST_CASE("who has left is not warned of the keys that nobody owns then", "[agent]") {
  agent one("one", {}, {"--placement=redis_slots"});
  one.own().write("leave\n");
  CHECK(one.exit_code() == 0);
  CHECK(one.own().errors().empty());
}
#endif
