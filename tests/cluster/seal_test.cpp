// Sealed clusters of separate processes: rolled out and back, rotated, and closed to strangers.
#include <chrono>
#include <filesystem>
#include <thread>

#include "cluster/key_file.hpp"
#include "cluster/stories.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
namespace fs = std::filesystem;

namespace {

std::string first_id(agent& of) {
  return of.ask("keys")["keys"][0].text();
}

void obey(agent& who, const std::string& command) {
  const auto answer = who.ask(command);
  INFO(who.name() << ": " << (answer.has("error") ? answer["error"].text() : ""));
  REQUIRE(answer.has("ok"));
}

/// Messages of each to each, which arrive; so all that was sent before them has been read.
void exchange(const agents& all, const std::string& how, const std::string& text) {
  std::vector<std::size_t> since;
  for (const auto& each : all)
    since.push_back(each->line_count());
  for (const auto& from : all) {
    for (const auto& to : all) {
      if (from != to) obey(*from, how + ' ' + to->name() + ' ' + text + " of " + from->name());
    }
  }
  for (std::size_t to = 0; to < all.size(); ++to) {
    for (const auto& from : all) {
      if (from == all[to]) continue;
      const auto said = text + " of " + from->name() + '"';
      const auto is_heard = [&](const std::string& line) {
        return line.starts_with("{\"event\":\"message\"") && line.find(said) != line.npos;
      };
      INFO(all[to]->name() << " hears " << said);
      CHECK(all[to]->own().wait_for_line(is_heard, agent_patience, since[to]));
    }
  }
}

/// As long as a death takes to be found, twice over, with the local profile.
void live_on() {
  std::this_thread::sleep_for(std::chrono::seconds(3));
}

}  // namespace

TEST_CASE("off, accept, require and back, rolled node by node under load, lose no member",
          "[agent][seal]") {
  const std::string key = new_key();
  auto all = form_cluster(4);
  for (auto& each : all)
    obey(*each, "key add " + key);
  for (const std::string mode : {"accept", "require", "accept", "off"}) {
    for (auto& each : all) {
      obey(*each, "seal " + mode);
      exchange(all, "send-reliably", "while " + each->name() + " goes to " + mode);
      exchange(all, "send", "when " + each->name() + " went to " + mode);
      obey(*each, "set-meta " + mode);
    }
    live_on();
    await_agreement(all, 4);
    if (mode == "require") {
      // Only holders of the key come in now.
      const key_file file(key);
      auto late = std::make_unique<agent>("late", agent::words{all[0]->address()}, file.required());
      await_changes(all, "late", 1);
      for (const auto& each : all)
        late->wait_for_event("joined", each->name());
      late->own().write("leave\n");
      check_stories(all, "late", {"joined", "left"});
      await_agreement(all, 4);
    }
  }
  for (auto& each : all) {
    INFO(each->name());
    CHECK(each->stat("dropped_not_sealed") == 0);
    CHECK(each->stat("dropped_cannot_open") == 0);
  }
  check_stories(all, "late", {"joined", "left"});
  check_updates_alone(all, {"late"});
}

TEST_CASE("an agent whom nobody reaches where it says is refused in words, sealed or not",
          "[agent][seal]") {
  // Rolled out node by node, the newcomer may be a step ahead.
  const auto modes = GENERATE(table<std::string, std::string>({{"plain", "plain"},
                                                               {"off", "off"},
                                                               {"off", "accept"},
                                                               {"accept", "off"},
                                                               {"require", "require"}}));
  const auto& [mode, its_mode] = modes;
  const std::string where = GENERATE("a closed port", "no way to", "another's address");
  const key_file file(new_key());
  const auto sealed = [&](const std::string& how, agent::words more) {
    if (how == "plain") return more;
    more.insert(more.end(), {"--key-file", file.path(), "--seal", how});
    return more;
  };
  CAPTURE(std::get<0>(modes), std::get<1>(modes), where);
  const auto all = form_cluster(2, sealed(mode, {}));
  std::string address = "192.0.2.1:7946";  // for documentation; bound to loopback, none is sent
  if (where == "another's address") address = all[1]->address();
  if (where == "a closed port") {
    agent brief("brief");
    address = brief.address();
  }
  agent lost("lost", {all[0]->address()}, sealed(its_mode, {"--advertise", address}));
  const auto said = [&] { return lost.own().errors(); };
  eventually([&] { return said().find("we can't reach") != std::string::npos; });
  CHECK_THAT(said(), Catch::Matchers::ContainsSubstring("we can't reach " + address + ": nobody "));
  CHECK_THAT(said(), Catch::Matchers::ContainsSubstring(
                         "advertise the address that members reach this process at"));
  CHECK(lost.member_count() == 1);
  agent right("right", {all[1]->address()}, sealed(its_mode, {}));
  for (const auto& each : all) {
    right.wait_for_event("joined", each->name());
    each->wait_for_event("joined", "right");
    CHECK(each->member_count() == 3);
    CHECK(each->count_events("joined", "lost") == 0);
  }
  CHECK(right.count_events("joined", "lost") == 0);
}

TEST_CASE("a key is rotated every 100 ms under load, and neither a member nor a packet is lost",
          "[agent][seal]") {
  const std::string first = new_key();
  const key_file file(first);
  auto all = form_cluster(4, {"--key-file", file.path(), "--seal", "require"});
  std::string old_id = first_id(*all[0]);
  constexpr int turns = 30;
  for (int turn = 0; turn < turns; ++turn) {
    const auto begin = process::clock::now();
    const auto number = std::to_string(turn);
    const std::string next = new_key();
    for (auto& each : all)
      obey(*each, "key add " + next);
    const std::string next_id = all[0]->ask("keys")["keys"][1].text();
    for (std::size_t i = 0; i < all.size(); ++i) {
      obey(*all[i], "key use " + next_id);
      // News and messages must get through while one has the new key and the next one hasn't.
      obey(*all[i], "set-meta turn " + number);
      obey(*all[i], "send-reliably n" + std::to_string((i + 1) % all.size()) + " turn " + number);
    }
    // What is on its way under the old key arrives first: the order is add, use, a moment, remove.
    exchange(all, "send", "datagram " + number);
    std::this_thread::sleep_until(begin + std::chrono::milliseconds(100));
    for (auto& each : all)
      obey(*each, "key remove " + old_id);
    old_id = next_id;
  }
  exchange(all, "send-reliably", "the last");
  await_agreement(all, 4);
  for (auto& each : all) {
    INFO(each->name());
    CHECK(each->ask("keys")["keys"].size() == 1);
    CHECK(first_id(*each) == old_id);
    CHECK(each->stat("dropped_not_sealed") == 0);
    CHECK(each->stat("dropped_cannot_open") == 0);
    CHECK(each->stat("dropped_repeated") == 0);
  }
  all[1]->wait_for_event("updated", "n0");
  check_updates_alone(all);
}

TEST_CASE("a node with the wrong key is refused and counted, and so is one without any",
          "[agent][seal]") {
  const key_file right(new_key());
  const key_file wrong(new_key());
  auto all = form_cluster(2, {"--key-file", right.path(), "--seal", "require"});
  agent stranger("stranger", {all[0]->address()},
                 {"--key-file", wrong.path(), "--seal", "require"});
  agent plain("plain", {all[0]->address()});
  CHECK(eventually([&] { return all[0]->stat("dropped_cannot_open") > 0; }));
  CHECK(eventually([&] { return all[0]->stat("dropped_not_sealed") > 0; }));
  CHECK(stranger.member_count() == 1);
  CHECK(plain.member_count() == 1);
  await_agreement(all, 2);
  for (auto& each : all) {
    CHECK(each->count_events("joined", "stranger") == 0);
    CHECK(each->count_events("joined", "plain") == 0);
  }
}

TEST_CASE("no answer, log line or refusal ever shows a key", "[agent][seal]") {
  const std::string key = new_key();
  const std::string other = new_key();
  const key_file file(key);
  agent one("n0", {}, {"--key-file", file.path(), "--seal", "require", "--log", "debug"});
  obey(one, "key add " + other);
  const std::vector<std::string> commands{"key add " + other,
                                          "key add " + key,
                                          "key add " + other.substr(0, 43),
                                          "key use " + other,
                                          "key remove " + key,
                                          "key " + key,
                                          "keys",
                                          key,
                                          "seal " + key,
                                          "key add"};
  for (const auto& command : commands)
    one.ask(command);
  for (const auto& line : one.own().lines()) {
    CHECK(line.find(key.substr(0, 40)) == std::string::npos);
    CHECK(line.find(other.substr(0, 40)) == std::string::npos);
  }
  CHECK(one.own().errors().find(key.substr(0, 40)) == std::string::npos);
  CHECK(one.own().errors().find(other.substr(0, 40)) == std::string::npos);
}

TEST_CASE("a key file that others may read is refused, and so is sealing without a key",
          "[agent][seal]") {
  const key_file file(new_key());
  fs::permissions(file.path(), fs::perms::others_read, fs::perm_options::add);
  const std::vector<std::string> words{LIFERING_AGENT, "--name", "n",      "--bind", "127.0.0.1:0",
                                       "--cluster",    "test",   "--seal", "require"};
  process without(words);
  CHECK(without.wait(agent_patience) == 2);
  CHECK(without.errors().find("--seal require") != std::string::npos);
  auto with_file = words;
  with_file.insert(with_file.end(), {"--key-file", file.path()});
  process open_to_others(with_file);
  CHECK(open_to_others.wait(agent_patience) == 2);
  CHECK(open_to_others.errors().find(file.path()) != std::string::npos);
}
