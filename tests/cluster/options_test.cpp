// The checks of options: every fault is one sentence that names the value.
#include <functional>
#include <lifering/options.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using lifering::errc;
using lifering::options;

namespace {

options valid() {
  auto result = options::lan();
  result.name = "a";
  result.cluster = "test";
  return result;
}

struct fault {
  std::string what;
  std::function<void(options&)> make;
  errc code;
  std::string named;  ///< What the sentence must contain.
};

void check(const std::vector<fault>& faults) {
  for (const auto& each : faults) {
    INFO(each.what);
    auto given = valid();
    each.make(given);
    const auto found = given.validate();
    REQUIRE(found.has_value());
    INFO(found->text);
    CHECK(found->code == each.code);
    CHECK(found->text.find(each.named) != std::string::npos);
    CHECK(found->text.find('\n') == std::string::npos);
    CHECK(found->text.size() < 300);
  }
}

}  // namespace

TEST_CASE("the presets are valid once name and cluster are given", "[options]") {
  for (auto preset : {options::lan(), options::wan(), options::local()}) {
    CHECK(preset.validate().has_value());  // as both are required
    preset.name = "a";
    preset.cluster = "test";
    const auto found = preset.validate();
    INFO((found ? found->text : ""));
    CHECK_FALSE(found.has_value());
  }
}

TEST_CASE("wide networks are judged more slowly than one machine", "[options]") {
  const auto lan = options::lan().protocol;
  const auto wan = options::wan().protocol;
  const auto local = options::local().protocol;
  CHECK(wan.probe_timeout > 1s);  // above a round trip of a second
  CHECK(wan.probe_interval > lan.probe_interval);
  CHECK(local.probe_interval < lan.probe_interval);
}

TEST_CASE("on one machine nobody is failed in less than a second of silence", "[options]") {
  const auto local = options::local().protocol;
  CHECK(local.suspicion_multiplier * local.probe_interval >= 1s);
}

TEST_CASE("what a member is called is checked", "[options]") {
  check({
      {"no name", [](options& o) { o.name = ""; }, errc::empty_name, "1 to 255 bytes"},
      {"long name", [](options& o) { o.name = std::string(256, 'n'); }, errc::name_too_long,
       "256 bytes"},
      {"no cluster", [](options& o) { o.cluster = ""; }, errc::empty_cluster_id, "1 to 64 bytes"},
      {"long cluster", [](options& o) { o.cluster = std::string(65, 'c'); },
       errc::cluster_id_too_long, "65 bytes"},
      {"long zone", [](options& o) { o.zone = std::string(65, 'z'); }, errc::zone_too_long,
       "at most 64"},
      {"long service", [](options& o) { o.service = std::string(256, 's'); },
       errc::service_too_long, "at most 255"},
      {"large metadata", [](options& o) { o.metadata = std::string(16385, 'm'); },
       errc::metadata_too_large, "16385 bytes"},
      {"metadata over a lower limit",
       [](options& o) {
         o.limits.metadata = 10;
         o.metadata = "eleven char";
       },
       errc::metadata_too_large, "at most 10"},
      {"no such phase", [](options& o) { o.phase = static_cast<lifering::member_phase>(9); },
       errc::invalid_option, "the phase is 9"},
  });
}

TEST_CASE("names may hold any bytes and reach their limit", "[options]") {
  auto given = valid();
  given.name = std::string("\0\xff\n", 3) + std::string(252, 'n');
  given.cluster = std::string(64, '\xfe');
  CHECK_FALSE(given.validate().has_value());
}

TEST_CASE("a sentence shows bytes that can't be printed in hexadecimal", "[options]") {
  auto given = valid();
  given.bind = "\x01\xff";
  const auto found = given.validate();
  REQUIRE(found.has_value());
  CHECK(found->text.find("\"\\x01\\xff\"") != std::string::npos);
}

TEST_CASE("addresses are checked", "[options]") {
  const auto bind = [](std::string text) { return [text](options& o) { o.bind = text; }; };
  const auto advertise = [](std::string text) {
    return [text](options& o) { o.advertise = text; };
  };
  check({
      {"empty", bind(""), errc::invalid_address, "\"\""},
      {"host name", bind("localhost:7946"), errc::invalid_address, "localhost:7946"},
      {"port too great", bind("127.0.0.1:65536"), errc::invalid_address, "127.0.0.1:65536"},
      {"words", bind("nonsense"), errc::invalid_address, "IP:PORT"},
      {"multicast", bind("224.0.0.1:7946"), errc::invalid_address, "224.0.0.1:7946"},
      {"broadcast", bind("255.255.255.255:0"), errc::invalid_address, "255.255.255.255:0"},
      {"v6 without brackets", bind("::1:7000"), errc::invalid_address, "[::]:7946"},
      {"v6 and no port", bind("::1"), errc::invalid_address, "\"::1\""},
      {"v6 without brackets", advertise("2001:db8::1"), errc::invalid_address, "2001:db8::1"},
      {"unspecified", advertise("0.0.0.0:7946"), errc::invalid_address, "0.0.0.0:7946"},
      {"v6 unspecified", advertise("[::]:7946"), errc::invalid_address, "[::]:7946"},
      {"v6 multicast", advertise("[ff02::1]:7946"), errc::invalid_address, "[ff02::1]"},
  });
  for (const auto* fine : {"127.0.0.1", "0.0.0.0:0", "[::]:7946", "[::1]:7946", "10.0.0.1:1"}) {
    INFO(fine);
    auto given = valid();
    given.bind = fine;
    CHECK_FALSE(given.validate().has_value());
  }
}

TEST_CASE("what bounds messages, rings and patience is checked", "[options]") {
  check({
      {"hardly any room", [](options& o) { o.limits.message_queue = 65535; }, errc::invalid_option,
       "limits.message_queue is 65535"},
      {"too much room", [](options& o) { o.limits.message_queue = (1 << 30) + 1; },
       errc::invalid_option, "65536 to 1073741824"},
      {"endless gathering", [](options& o) { o.ring_gather = 10001ms; }, errc::invalid_option,
       "ring_gather is 10001 ms"},
      {"gathering backwards", [](options& o) { o.ring_gather = -1ms; }, errc::invalid_option,
       "ring_gather is -1 ms"},
      {"restless check", [](options& o) { o.health.interval = 9ms; }, errc::invalid_option,
       "health.interval is 9 ms"},
      {"endless patience", [](options& o) { o.health.bad_for = 25h; }, errc::invalid_option,
       "health.bad_for"},
      {"negative patience", [](options& o) { o.health.good_for = -1ms; }, errc::invalid_option,
       "health.good_for is -1 ms"},
  });
}

TEST_CASE("the protocol's clockwork is checked, each value and against its neighbours",
          "[options]") {
  check({
      {"no probe interval", [](options& o) { o.protocol.probe_interval = 0ms; },
       errc::invalid_option, "probe_interval is 0 ms"},
      {"no probe timeout", [](options& o) { o.protocol.probe_timeout = 0ms; }, errc::invalid_option,
       "probe_timeout is 0 ms"},
      {"timeout of an interval",
       [](options& o) { o.protocol.probe_timeout = o.protocol.probe_interval; },
       errc::invalid_option, "below protocol.probe_interval"},
      {"timeout above the interval", [](options& o) { o.protocol.probe_timeout = 2s; },
       errc::invalid_option, "2000 ms"},
      {"many helpers", [](options& o) { o.protocol.indirect_probes = 17; }, errc::invalid_option,
       "0 to 16"},
      {"no suspicion", [](options& o) { o.protocol.suspicion_multiplier = 0; },
       errc::invalid_option, "1 to 100"},
      {"no stretch", [](options& o) { o.protocol.suspicion_stretch = 0; }, errc::invalid_option,
       "suspicion_stretch is 0"},
      {"no gossip interval", [](options& o) { o.protocol.gossip_interval = 0ms; },
       errc::invalid_option, "gossip_interval is 0 ms"},
      {"nobody to gossip with", [](options& o) { o.protocol.gossip_peers = 0; },
       errc::invalid_option, "gossip_peers is 0"},
      {"no retransmission", [](options& o) { o.protocol.retransmit_multiplier = 0; },
       errc::invalid_option, "retransmit_multiplier"},
      {"hasty push-pull", [](options& o) { o.protocol.push_pull_interval = 99ms; },
       errc::invalid_option, "99 ms"},
      {"no stream timeout", [](options& o) { o.protocol.stream_timeout = 0ms; },
       errc::invalid_option, "stream_timeout is 0 ms"},
      {"short hold-down", [](options& o) { o.protocol.hold_down = 999ms; }, errc::invalid_option,
       "0 (off) or 1000 ms"},
      {"short graves", [](options& o) { o.protocol.grave_time = 1s; }, errc::invalid_option,
       "5000 ms"},
      {"negative interval", [](options& o) { o.protocol.probe_interval = -5ms; },
       errc::invalid_option, "-5 ms"},
  });
  auto given = valid();
  given.protocol.push_pull_interval = 0ms;  // the timer is off
  given.protocol.indirect_probes = 0;
  CHECK_FALSE(given.validate().has_value());
}

TEST_CASE("limits are checked", "[options]") {
  check({
      {"small datagrams", [](options& o) { o.limits.datagram = 511; }, errc::invalid_option,
       "datagram is 511"},
      {"great datagrams", [](options& o) { o.limits.datagram = 65508; }, errc::invalid_option,
       "65507"},
      {"great metadata", [](options& o) { o.limits.metadata = 16385; }, errc::invalid_option,
       "0 to 16384"},
      {"one member", [](options& o) { o.limits.members = 1; }, errc::invalid_option,
       "members is 1"},
      {"few graves", [](options& o) { o.limits.graves = 15; }, errc::invalid_option,
       "graves is 15"},
      {"few streams", [](options& o) { o.limits.streams = 3; }, errc::invalid_option,
       "streams is 3"},
      {"short queue", [](options& o) { o.limits.event_queue = 15; }, errc::invalid_option,
       "event_queue is 15"},
  });
}

TEST_CASE("a member whose news doesn't fit into a datagram is refused", "[options]") {
  auto given = valid();
  given.limits.datagram = 600;
  given.name = std::string(150, 'n');
  given.metadata = std::string(300, 'm');
  CHECK(given.validate().has_value());
  given.limits.datagram = 1000;
  CHECK_FALSE(given.validate().has_value());
}

TEST_CASE("the placement is checked with the rest", "[options]") {
  auto given = valid();
  given.placement.segments = 9;
  const auto found = given.validate();
  REQUIRE(found.has_value());
  CHECK(found->code == errc::invalid_placement);
}
