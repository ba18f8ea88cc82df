// The command line and the conversation of one agent: what is answered, what is refused and how.
#include <signal.h>

#include "cluster/agent.hpp"
#include "support/catch.hpp"

using namespace lifering_test;

namespace {

struct outcome {
  int code = -1;
  std::vector<std::string> out;
  std::string err;
};

outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), LIFERING_AGENT);
  process made(words);
  outcome result;
  result.code = made.wait(agent_patience).value_or(-1);
  result.out = made.lines();
  result.err = made.errors();
  return result;
}

/// The required words, and others after them.
std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), {"--name", "a", "--bind", "127.0.0.1:0", "--cluster", "test"});
  return more;
}

std::vector<json> answers_of(agent& one) {
  std::vector<json> result;
  for (const auto& line : one.own().lines()) {
    auto parsed = json::parse(line);
    if (!parsed.has("event")) result.push_back(std::move(parsed));
  }
  return result;
}

}  // namespace

TEST_CASE("help and version are printed and end well", "[conversation]") {
  const auto help = run({"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.size() > 20);
  CHECK(help.err.empty());
  const auto version = run({"--version"});
  CHECK(version.code == 0);
  CHECK(version.out == std::vector<std::string>{"lifering-agent 0.1.0"});
}

TEST_CASE("a wrong command line is one sentence that names the value, and exit code 2",
          "[conversation]") {
  const std::string long_name(256, 'n');
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
      {{}, "--name is required"},
      {{"--name", "a", "--bind", "127.0.0.1:0"}, "--cluster is required"},
      {with({"--name", ""}), "the name is empty"},
      {with({"--name", long_name}), "256 bytes"},
      {with({"--cluster", ""}), "the cluster id is empty"},
      {with({"--cluster", std::string(65, 'c')}), "65 bytes"},
      {with({"--bind", "localhost"}), "\"localhost\""},
      {with({"--bind", "1.2.3.4:99999"}), "\"1.2.3.4:99999\""},
      {with({"--advertise", "0.0.0.0:1"}), "\"0.0.0.0:1\""},
      {with({"--join", "host:port"}), "\"host:port\""},
      {with({"--join", ""}), "\"\""},
      {with({"--join", "a b:1"}), "\"a b:1\""},
      {with({"--join", "[::1"}), "\"[::1\""},
      {with({"--weight", "-1"}), "\"-1\""},
      {with({"--weight", "0.001"}), "\"0.001\""},
      {with({"--weight", "heavy"}), "\"heavy\""},
      {with({"--weight", "101"}), "\"101\""},
      {with({"--zone", std::string(65, 'z')}), "65 bytes"},
      {with({"--meta", std::string(16385, 'm')}), "16385 bytes"},
      {with({"--service", std::string(256, 's')}), "256 bytes"},
      {with({"--placement", "random"}), "\"random\""},
      {with({"--placement", "haproxy:hash=md5"}), "md5\""},
      {with({"--vnodes", "many"}), "\"many\""},
      {with({"--vnodes", "-3"}), "\"-3\""},
      {with({"--placement", "classic", "--vnodes", "70000"}), "70000"},
      {with({"--placement", "classic", "--label", "no place"}), "no place"},
      {with({"--segments", "9"}), "9"},
      {with({"--cap", "0.12345"}), "\"0.12345\""},
      {with({"--cap", "99"}), "\"99\""},
      {with({"--cap", "5."}), "\"5.\""},
      {with({"--profile", "moon"}), "\"moon\""},
      {with({"--log", "loud"}), "\"loud\""},
      {with({"--no-such-flag", "x"}), "\"--no-such-flag\""},
      {with({"--no-such-flag"}), "\"--no-such-flag\" is no option"},
      {with({"word"}), "\"word\""},
      {with({"--weight"}), "--weight needs a value"},
      {with({"--zone", "--quit-on-eof"}), "--zone needs a value"},
      {with({"--zone", "--weight=1"}), "--zone=--weight=1"},
      {with({"--weight", "1\n2"}), "\"1\\x0a2\""},
      {with({"--vnodes", "4294967296"}), "up to 4294967295"},
      {with({"--vnodes", "5"}), "vnodes is 5, of no use to slots"},
      {with({"--placement", "classic", "--segments", "12"}),
       "segments is 12, of no use to classic"},
      {with({"--bind", "255.255.255.255:0"}), "\"255.255.255.255:0\""},
      {with({"--bind", "::1:7000"}), "\"::1:7000\""},
      {with({"--advertise", "no-such-host.invalid"}), "\"no-such-host.invalid\""},
      {with({"--join", "a..b"}), "\"a..b\""},
      {with({"--quit-on-eof=yes"}), "takes no value"},
  };
  for (const auto& [words, named] : rows) {
    INFO(named);
    const auto result = run(words);
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(result.err.starts_with("lifering-agent: "));
    CHECK(result.err.find(named) != std::string::npos);
    CHECK(result.err.find('\n') == result.err.size() - 1);
  }
}

TEST_CASE("a port in use is one sentence that names it, and exit code 2", "[conversation]") {
  agent holder("holder");
  const auto result = run(with({"--bind", holder.address()}));
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(result.err.find(holder.address()) != std::string::npos);
  CHECK(result.err.find('\n') == result.err.size() - 1);
}

TEST_CASE("commands are answered in order, one line each", "[conversation]") {
  agent one("a");
  one.own().write("members\nowner x y\nowners x y 3\nfingerprint\nnonsense\n\nstats\n");
  const auto line = one.own().wait_for_line(
      [](const std::string& each) { return each.starts_with("{\"stats\""); }, agent_patience);
  REQUIRE(line.has_value());
  const auto answers = answers_of(one);
  REQUIRE(answers.size() == 7);
  CHECK(answers[0]["members"][0]["name"].text() == "a");
  CHECK(answers[1]["key"].text() == "x y");
  CHECK(answers[1]["owner"].text() == "a");
  CHECK(answers[2]["key"].text() == "x y");
  CHECK(answers[2]["owners"][0].text() == "a");
  CHECK(answers[3]["fingerprint"].text().size() == 16);
  CHECK(answers[4].has("error"));
  CHECK(answers[5].has("error"));
  CHECK(answers[6]["stats"]["members_alive"].number() == 1);
}

TEST_CASE("an odd command is an error and the next is answered", "[conversation]") {
  agent one("a");
  CHECK(one.ask("owners key").has("error"));
  CHECK(one.ask("owners key many").has("error"));
  CHECK(one.ask("owners key -1").has("error"));
  CHECK(one.ask("owners key 18446744073709551615")["owners"].size() == 1);
  CHECK(one.ask("owner ")["owner"].is_null());
  CHECK(one.ask("owner")["owner"].is_null());
  CHECK(one.ask("forget nobody").has("error"));
  CHECK(one.ask("health").has("error"));
  CHECK(one.ask("health so-so")["error"].text().find("\"so-so\"") != std::string::npos);
  CHECK(one.ask("seal on")["error"].text() == "seal takes off, accept or require, not \"on\"");
  CHECK(one.ask("key drop x")["error"].text().ends_with(", not \"drop\""));
  CHECK(one.ask("send").has("error"));
  CHECK(one.ask("send nobody text")["error"].text().find("\"nobody\"") != std::string::npos);
  CHECK(one.ask("send a text").has("error"));
  CHECK(one.ask("send-reliably nobody text").has("error"));
  CHECK(one.ask("broadcast " + std::string(2000, 'b')).has("error"));
  CHECK(one.ask("broadcast to nobody")["ok"].boolean());
  CHECK(one.ask("set-service " + std::string(256, 's')).has("error"));
  CHECK(one.ask("graves")["graves"].size() == 0);
  CHECK(one.ask("agreement")["agreement"]["agreeing"].number() == 0);
  CHECK(one.ask(std::string("mem\0bers", 8)).has("error"));
  CHECK(one.ask("owner " + std::string(100'000, 'k'))["owner"].text() == "a");
  CHECK(one.ask("owner " + std::string(3 << 20, 'k'))["error"].text() == "the line is too long");
  CHECK(one.ask("members\r")["members"].size() == 1);
  CHECK(one.ask("  members  ")["members"].size() == 1);
  CHECK(one.ask(" owner  key ")["key"].text() == " key ");
  CHECK(one.ask("")["error"].text().starts_with("an empty line is no command"));
  CHECK(one.ask("set-weight " + std::string(1000, '9'))["error"].text().size() < 150);
  CHECK(one.ask("forget a")["error"].text().find("\"a\"") != std::string::npos);
}

TEST_CASE("a command that stands alone isn't obeyed with something after it", "[conversation]") {
  agent one("a");
  for (const auto* command : {"leave", "quit", "members", "fingerprint", "stats", "graves",
                              "agreement", "ready", "drain", "keys"}) {
    INFO(command);
    CHECK(one.ask(command + std::string(" node-2"))["error"].text() ==
          command + std::string(" takes nothing after it"));
  }
  CHECK(one.ask("members")["members"][0]["phase"].text() == "serving");
}

TEST_CASE("quit ends at once and well", "[conversation]") {
  agent one("a");
  one.own().write("quit\nmembers\n");
  CHECK(one.exit_code() == 0);
  CHECK(answers_of(one).size() == 1);
  CHECK(answers_of(one)[0]["quit"].boolean());
}

TEST_CASE("the end of input ends nothing, unless it is asked for", "[conversation]") {
  agent stays("a");
  stays.own().close_input();
  agent ends("b", {stays.address()}, {"--quit-on-eof"});
  stays.wait_for_event("joined", "b");
  ends.own().write("fingerprint");  // a last line without an end
  ends.own().close_input();
  CHECK(ends.exit_code() == 0);
  CHECK(answers_of(ends).at(0).has("fingerprint"));
  stays.wait_for_event("failed", "b");  // It did not leave.
  stays.own().signal(SIGTERM);
  CHECK(stays.exit_code() == 0);
}

TEST_CASE("a seed that can't be found is said once, and the agent serves alone", "[conversation]") {
  agent one("a", {"no-such-host.invalid:7946"});
  agent other("b", {one.address()});
  one.wait_for_event("joined", "b");
  one.ask("members");
  CHECK(one.owner("key").size() == 1);
  const auto said = [&] {
    const auto& text = one.own().errors();
    std::size_t count = 0;
    for (auto at = text.find("no-such-host"); at != std::string::npos;
         at = text.find("no-such-host", at + 1)) {
      ++count;
    }
    return count;
  };
  while (said() == 0)
    one.ask("members");
  // Long enough for further tries: four probe intervals of 200 ms and their jitter, twice.
  one.own().wait_for_line([](const std::string&) { return false; }, std::chrono::seconds(4),
                          one.line_count());
  INFO(one.own().errors());
  CHECK(said() == 1);
}

TEST_CASE("a seed that comes later is found", "[conversation]") {
  auto first = std::make_unique<agent>("first");
  const auto address = first->address();
  first->kill();
  agent waiting("waiting", {address});
  first = std::make_unique<agent>("first", agent::words{}, agent::words{}, address);
  waiting.wait_for_event("joined", "first");
  first->wait_for_event("joined", "waiting");
}

TEST_CASE("an agent's own address among its seeds is ignored", "[conversation]") {
  agent first("a");
  const auto address = first.address();
  first.kill();
  agent again("a", {address}, {}, address);
  agent other("b", {address, "127.0.0.1:1"});
  again.wait_for_event("joined", "b");
  CHECK(again.member_count() == 2);
  CHECK(again.own().errors().find("join") == std::string::npos);
}

TEST_CASE("a seed of another cluster, or with another placement, refuses with the reason",
          "[conversation]") {
  agent seed("a");
  agent foreign("b", {seed.address()}, {"--cluster", "another"});
  agent differing("c", {seed.address()}, {"--placement", "classic"});
  for (auto* refused : {&foreign, &differing}) {
    while (refused->own().errors().find("Could not join") == std::string::npos) {
      refused->ask("members");
    }
    CHECK(refused->member_count() == 1);
    CHECK(refused->owner("key") == refused->name());
  }
  CHECK(foreign.own().errors().find("cluster") != std::string::npos);
  CHECK(differing.own().errors().find("placement") != std::string::npos);
  CHECK(seed.member_count() == 1);
}
