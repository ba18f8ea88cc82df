// Floods on loopback, 100,000 packets a second as far as the machine lets them. While one goes on,
// members answer each other, tell of nothing that isn't so, own the same keys, take in a newcomer,
// hear each other's reliable messages, and don't grow.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "cluster/key_file.hpp"
#include "cluster/resources.hpp"
#include "hosts/network.hpp"
#include "support/catch.hpp"

using namespace lifering_test;

namespace {

using words = agent::words;

std::map<std::string, std::string> owners(agent& by) {
  std::map<std::string, std::string> found;
  for (int i = 0; i < 50; ++i) {
    const auto key = "key-" + std::to_string(i);
    found[key] = by.owner(key);
  }
  return found;
}

resources::sample taken_by(agent& of) {
  return resources().measure(of.own().pid());
}

/// What a flood is at least, in packets or connections, however busy the machine is.
struct least {
  double number;
  double a_second;  ///< Members send each other four packets.
};

least least_of(const std::string& kind) {
  if (kind == "silent" || kind == "unfinished") return {2000, 200};
  if (kind.starts_with("invented")) return {100'000, 1000};  // A million members, ten in each.
  return {20'000, 1000};
}

/// One flood against all of some agents.
class flood {
 public:
  flood(agents& against, const std::string& kind)
      : kind_(kind), against_(against), flooder_(command(against, kind)) {
    for (const auto& each : against) {
      before_.push_back(taken_by(*each));
      probes_ -= each->stat("probes");
      failed_probes_ -= each->stat("probes_failed");
    }
  }

  /// Lets it go on for as long as LIFERING_FLOOD_SECONDS says, 2 s by default, and until enough was
  /// sent.
  void go_on() {
    const char* const asked = std::getenv("LIFERING_FLOOD_SECONDS");
    const std::chrono::duration<double> time(asked != nullptr ? std::strtod(asked, nullptr) : 2);
    const auto end = process::clock::now() + time;
    while (process::clock::now() < end && !flooder_.wait(std::chrono::milliseconds(100)))
      watch();
    CHECK(eventually([&] {
      watch();
      return sent() >= least_of(kind_).number;
    }));
  }

  /// Whether it still does.
  bool is_on() { return !flooder_.wait(std::chrono::milliseconds(0)); }

  /// Ends it. Whoever was asked answered, and what it opened is closed.
  void end() {
    finish();
    CHECK(probes_ > 0);
    CHECK(failed_probes_ * 5 <= probes_);
    for (std::size_t i = 0; i < before_.size(); ++i)
      await_handles(*against_[i], before_[i].handles);
  }

  /// The same where most of those who are probed don't exist; the growth.
  double end_among_invented() {
    finish();
    return growth_;
  }

  /// Of the member that grew most, in MiB, while it went on.
  double growth() const { return growth_; }

 private:
  void finish() {
    watch();
    flooder_.close_input();
    const auto code = flooder_.wait(agent_patience);
    INFO(flooder_.errors());
    REQUIRE(code == 0);
    const double rate = sent() / progress()["seconds"].number();
    for (std::size_t i = 0; i < before_.size(); ++i) {
      probes_ += against_[i]->stat("probes");
      failed_probes_ += against_[i]->stat("probes_failed");
    }
    std::printf("%s: %.0f, %.0f a second, memory +%.1f MiB, %.0f of %.0f probes unanswered\n",
                kind_.c_str(), sent(), rate, growth_, failed_probes_, probes_);
    CHECK(rate >= least_of(kind_).a_second);
  }

  /// What the flooder said last.
  json progress() {
    const auto& lines = flooder_.lines();
    return json::parse(lines.empty() ? R"({"sent":0,"seconds":1})" : lines.back());
  }

  double sent() { return progress()["sent"].number(); }

  static words command(const agents& against, const std::string& kind) {
    words all{LIFERING_FLOODER, kind, "100000", "600"};
    for (const auto& each : against)
      all.push_back(each->address());
    return all;
  }

  void watch() {
    for (std::size_t i = 0; i < before_.size(); ++i)
      growth_ = std::max(growth_, taken_by(*against_[i]).mib - before_[i].mib);
  }

  /// Connections that nobody ends are over after the deadline of streams.
  static void await_handles(agent& of, std::size_t count) {
    INFO(of.name());
    CHECK(eventually([&] { return taken_by(of).handles <= count; }));
  }

  std::string kind_;
  agents& against_;
  std::vector<resources::sample> before_;
  double growth_ = 0;
  double probes_ = 0;
  double failed_probes_ = 0;
  process flooder_;
};

words with_profile(words more = {}) {
  more.insert(more.begin(), {"--profile", "lan"});
  return more;
}

/// What holds in every flood, whatever it is made of.
double stand(const std::string& kind, const words& more, const std::string& counter) {
  auto all = form_cluster(4, more);
  const auto fingerprint = all[0]->fingerprint();
  const auto owned = owners(*all[0]);
  flood under_way(all, kind);
  under_way.go_on();
  for (const auto& each : all) {
    CHECK(each->fingerprint() == fingerprint);
    CHECK(owners(*each) == owned);
  }
  CHECK(all[1]->ask("send-reliably n0 hello").has("ok"));
  all.push_back(std::make_unique<agent>("newcomer", words{all[0]->address()}, more));
  await_agreement(all, all.size());
  CHECK(under_way.is_on());
  under_way.end();
  check_nothing_else(all);
  for (const auto& each : all)
    CHECK(each->member_count() == all.size());
  // It did arrive, and was taken for what it is. What is counted is shown a moment later.
  const auto is_counted = [&](const auto& each) { return each->stat(counter) > 0; };
  CHECK(eventually([&] { return std::any_of(all.begin(), all.end(), is_counted); }));
  return under_way.growth();
}

/// A counter of this network's TCP.
double tcp_count(const std::string& name) {
  std::ifstream file("/proc/self/net/netstat");
  std::string names;
  std::string values;
  while (std::getline(file, names) && std::getline(file, values)) {
    std::istringstream of_names(names);
    std::istringstream of_values(values);
    std::string each;
    std::string value;
    while (of_names >> each && of_values >> value) {
      if (each == name) return std::stod(value);
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("noise is dropped", "[flood][noise]") {
  CHECK(stand("noise", with_profile(), "dropped_not_ours") < 8);
}

TEST_CASE("packets of another cluster are dropped", "[flood][foreign]") {
  CHECK(stand("foreign", with_profile(), "dropped_wrong_cluster") < 8);
}

TEST_CASE("a sealed cluster drops members that somebody invents", "[flood][invented-sealed]") {
  const key_file keys;
  CHECK(stand("invented", with_profile(keys.required()), "dropped_not_sealed") < 8);
}

TEST_CASE("nobody who isn't a member himself can invent some", "[flood][invented]") {
  CHECK(stand("invented", with_profile(), "dropped_bad_sender") < 8);
}

TEST_CASE("a cluster that isn't sealed keeps its members among those invented in a member's name",
          "[flood][invented]") {
  auto all = form_cluster(4, with_profile());
  const auto epoch = all[0]->ask("members")["members"][0]["epoch"].number();
  // Who isn't sealed believes whoever speaks as a member. What bounds the harm is the limit of
  // members, 16384: a row, its record and its node of the ring take less than 4 KiB of memory.
  flood under_way(all, "invented-by:n0:" + std::to_string(static_cast<std::uint64_t>(epoch)));
  under_way.go_on();
  CHECK(all[1]->ask("send-reliably n2 hello").has("ok"));
  CHECK(under_way.is_on());
  CHECK(under_way.end_among_invented() < 64);
  CHECK(all[1]->stat("dropped_member_limit") > 0);
  for (const auto& each : all)
    check_stories(all, each->name(), {"joined"});
}

TEST_CASE("connections on which nothing is said take no place from members", "[flood][silent]") {
  CHECK(stand("silent", with_profile(), "streams_refused") < 32);
}

TEST_CASE("streams that are never finished take no place from members", "[flood][unfinished]") {
  CHECK(stand("unfinished", with_profile(), "streams_refused") < 32);
}

namespace {

/// A network of this process alone, in which it may do all, from then on: these come last.
bool can_have_a_network() {
  if (!can_make_hosts()) return false;
  run({"ip", "link", "set", "lo", "up"});
  return true;
}

}  // namespace

TEST_CASE("a sealed cluster drops what was recorded from it", "[flood][raw][replay]") {
  if (!can_have_a_network()) return;
  const key_file keys;
  CHECK(stand("replay", with_profile(keys.required()), "dropped_repeated") < 8);
}

TEST_CASE("connections that are never made take no place from members", "[flood][raw][half-open]") {
  if (!can_have_a_network()) return;
  // A host that gets an answer which it never asked for refuses it; where these seem to come from
  // there is none.
  run({"nft", "-f", "-"},
      "table inet nowhere { chain lost { type filter hook input priority 0\n"
      "tcp flags & (syn | ack) == syn | ack ip daddr 127.1.0.0-127.255.255.255 drop\n}\n}\n");
  CHECK(stand("half-open", with_profile(), "streams_accepted") < 8);
  // Queues were full: the system took to cookies, or to dropping where it has none.
  CHECK(tcp_count("TCPReqQFullDoCookies") + tcp_count("TCPReqQFullDrop") > 1000);
}
