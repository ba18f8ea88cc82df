// The example programs do what their first lines say.
#include <signal.h>

#include <memory>

#include "cluster/agent.hpp"
#include "support/catch.hpp"

using namespace lifering_test;

namespace {

using words = std::vector<std::string>;
constexpr std::chrono::seconds patience{60};

/// Ports from which the system gives none away by itself, apart for each run of the tests.
std::string next_address() {
  static int next = 20000 + static_cast<int>(getpid() % 1000) * 10;
  return "127.0.0.1:" + std::to_string(next++);
}

std::unique_ptr<process> start(const words& command) {
  auto made = std::make_unique<process>(command);
  REQUIRE(made->wait_for_line([](const std::string& line) { return line == "ready"; }, patience));
  return made;
}

/// Writes a line and reads the next.
std::string ask(process& of, const std::string& line) {
  const std::size_t before = of.lines().size();
  of.write(line + '\n');
  return of.wait_for_line([](const std::string&) { return true; }, patience, before).value_or("");
}

/// One request to a service, through the program that everybody has.
std::string request(const std::string& service, const std::string& line) {
  const auto colon = service.find(':');
  process shell({"/bin/bash", "-c",
                 "exec 3<>/dev/tcp/" + service.substr(0, colon) + '/' + service.substr(colon + 1) +
                     "; cat >&3; head -n 1 <&3"});
  shell.write(line + '\n');
  shell.close_input();
  shell.wait(patience);
  return shell.lines().empty() ? "" : shell.lines().front();
}

}  // namespace

TEST_CASE("hello_cluster tells who comes, who owns a key and who goes", "[examples]") {
  const auto first_address = next_address();
  process first({HELLO_CLUSTER, "one", first_address});
  CHECK(ask(first, "key") == "one");
  process second({HELLO_CLUSTER, "two", next_address(), first_address});
  const auto says = [](process& who, const std::string& text) {
    return who.wait_for_line([&](const std::string& line) { return line == text; }, patience)
        .has_value();
  };
  CHECK(says(first, "two joined"));
  CHECK(says(second, "one joined"));
  CHECK(ask(first, "some key") == ask(second, "some key"));
  second.close_input();
  CHECK(second.wait(patience) == 0);
  CHECK(says(first, "two left"));
  CHECK(process({HELLO_CLUSTER}).wait(patience) == 2);
}

TEST_CASE("an example that is given something wrong says so in one sentence and ends with 2",
          "[examples]") {
  const std::vector<std::pair<words, std::string>> rows{
      {{HELLO_CLUSTER, "a", "nonsense"}, "cannot listen on \"nonsense\""},
      {{HELLO_CLUSTER, "", "127.0.0.1:0"}, "the name is empty"},
      {{HELLO_CLUSTER, "a", "127.0.0.1:0", "no seed"}, "\"no seed\" is no seed"},
      {{SHARD_CACHE, "a", "nonsense", "127.0.0.1:0"}, "cannot listen on \"nonsense\""},
      {{SHARD_CACHE, "a", "127.0.0.1:0", "nonsense"}, "nonsense is no IP:PORT"},
      {{SHARD_CACHE, "a", "127.0.0.1:0", "127.0.0.1:0", "a:b"}, "\"a:b\" is no seed"},
      {{TENANT_ROUTER, "router", "", "127.0.0.1:0"}, "the name is empty"},
      {{TENANT_ROUTER, "instance", "a", "127.0.0.1:0", "127.0.0.1:0", ""}, "\"\" is no seed"},
  };
  for (const auto& [command, sentence] : rows) {
    process wrong(command);
    wrong.close_input();
    CHECK(wrong.wait(patience) == 2);
    // The log of a member that was open for a moment comes before.
    const auto last = wrong.errors().substr(0, wrong.errors().find_last_not_of('\n') + 1);
    const auto line = last.substr(last.rfind('\n') + 1);
    INFO(wrong.errors());
    CHECK(line.find(": " + sentence) != std::string::npos);
  }
}

TEST_CASE("an example that starts before its seed serves alone and finds it later", "[examples]") {
  const auto seed = next_address();
  process early({HELLO_CLUSTER, "early", next_address(), seed});
  CHECK(ask(early, "key") == "early");
  process late({HELLO_CLUSTER, "late", seed});
  CHECK(early.wait_for_line([](const std::string& line) { return line == "late joined"; }, patience)
            .has_value());
}

TEST_CASE("shard_cache keeps a value at its key's owner and finds it from everywhere",
          "[examples]") {
  const auto seed = next_address();
  std::vector<std::string> services;
  std::vector<std::unique_ptr<process>> all;
  for (int i = 0; i < 3; ++i) {
    services.push_back(next_address());
    all.push_back(start({SHARD_CACHE, "cache-" + std::to_string(i), i == 0 ? seed : next_address(),
                         services.back(), seed}));
  }
  // A join returns when the seed knows; the third learns of the second by gossip.
  CHECK(eventually([&] {
    std::string keepers;
    for (const auto& service : services) {
      const auto stored = request(service, "PUT fruit apple pie");
      if (!stored.ends_with(" stored")) return false;
      if (keepers.empty()) keepers = stored;
      if (stored != keepers) return false;
    }
    const auto keeper = keepers.substr(0, keepers.find(' '));
    for (const auto& service : services) {
      if (request(service, "GET fruit") != keeper + " apple pie") return false;
    }
    return true;
  }));
  CHECK(request(services[0], "GET nothing-here").ends_with(" has nothing"));
  CHECK(request(services[0], "GET") == "no key or no owner");
  for (auto& each : all) {
    each->close_input();
    CHECK(each->wait(patience) == 0);
  }
}

TEST_CASE("tenant_router keeps a tenant at its instance and moves on when that is gone",
          "[examples]") {
  const auto seed = next_address();
  std::vector<std::unique_ptr<process>> instances;
  for (int i = 0; i < 3; ++i) {
    instances.push_back(start({TENANT_ROUTER, "instance", "i" + std::to_string(i),
                               i == 0 ? seed : next_address(), next_address(), seed}));
  }
  auto router = start({TENANT_ROUTER, "router", "r", next_address(), seed});
  // Until the router knows all three, a tenant may be sent elsewhere once or twice.
  std::string chosen;
  CHECK(eventually([&] {
    const auto first = ask(*router, "acme");
    const auto second = ask(*router, "acme");
    chosen = first.substr(0, 2);
    return first.starts_with('i') && second.starts_with(chosen) && first != second;
  }));

  const auto index = static_cast<std::size_t>(chosen[1] - '0');
  instances[index]->signal(SIGKILL);
  instances[index]->wait(patience);
  const auto next = ask(*router, "acme");  // before anybody has noticed
  CHECK(next.starts_with('i'));
  CHECK_FALSE(next.starts_with(chosen));
  CHECK(ask(*router, "acme").starts_with(next.substr(0, 2)));
}
