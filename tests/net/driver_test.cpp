#include "net/driver.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <lifering/error.hpp>
#include <set>
#include <thread>

#include "net/address.hpp"
#include "net/listening.hpp"
#include "net/peer.hpp"
#include "support/catch.hpp"
#include "support/log_memory.hpp"
#include "wire/codec.hpp"

namespace lifering::net {
namespace {

using lifering_test::log_memory;
using test::peer;
using test::quick_options;
using test::run_until;

/// Members that have joined through the first one and see each other.
class group {
 public:
  explicit group(std::size_t size, const std::string& bind = "127.0.0.1:0") {
    for (std::size_t i = 0; i < size; ++i) {
      add(bind);
      if (i > 0) members.back()->join({members.front()->address()});
    }
    CHECK(all_see(size));
  }

  void add(const std::string& bind) {
    members.push_back(
        std::make_unique<peer>(context, "member-" + std::to_string(members.size()), bind));
    REQUIRE_FALSE(members.back()->opened);
  }

  bool all_see(std::size_t count) {
    return run_until(context, [&] {
      return std::all_of(members.begin(), members.end(),
                         [count](const auto& each) { return each->present() == count; });
    });
  }

  peer& operator[](std::size_t i) { return *members[i]; }

  asio::io_context context;
  std::vector<std::unique_ptr<peer>> members;
};

TEST_CASE("Members that join one seed come to see each other") {
  const auto size = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{5});
  group all(size);
  for (std::size_t i = 1; i < size; ++i) {
    CHECK(all[0].heard(event_kind::joined, all[i].name()));
    CHECK(all[i].heard(event_kind::joined, "member-0"));
  }
}

TEST_CASE("An answer that waits in the socket counts before a timer that runs late") {
  asio::io_context ours;
  asio::io_context theirs;
  peer judge(ours, "judge");
  peer healthy(theirs, "healthy");
  judge.join({healthy.address()});
  REQUIRE(run_until(ours, [&] {
    theirs.poll();
    return judge.present() == 2 && healthy.present() == 2;
  }));
  const auto stats = [&judge]() -> const swim::stats& { return judge.driver().protocol().stats(); };
  // To the beginning of a probe, which the other doesn't read yet.
  const auto probes = stats().probes;
  const auto missed = stats().probes_failed;
  REQUIRE(run_until(ours, [&] {
    if (stats().probes == probes) theirs.poll();
    return stats().probes > probes;
  }));

  // Our loop is busy until the time of the probe is over, so that the timer's turn is next; the
  // answer comes before that turn.
  const auto interval = quick_options("x", "127.0.0.1:0").protocol.timing.probe_interval;
  const auto over = std::chrono::steady_clock::now() + interval + std::chrono::milliseconds(20);
  asio::post(ours, [&] {
    while (std::chrono::steady_clock::now() < over)
      std::this_thread::yield();
    asio::post(ours, [&] {
      const auto sent = healthy.driver().count().datagrams_sent;
      CHECK(run_until(theirs, [&] { return healthy.driver().count().datagrams_sent > sent; }));
    });
  });
  ours.poll();
  CHECK(stats().probes_failed == missed);
  CHECK(stats().suspicions_raised == 0);
}

TEST_CASE("A join says how many seeds it reached") {
  group all(2);
  all.add("127.0.0.1:0");
  const auto* done = all[2].completion(all[2].join({all[0].address()}));
  REQUIRE(done);
  CHECK_FALSE(done->error);
  CHECK(done->count == 1);
}

TEST_CASE("IPv4, IPv6 and dual-stack members that can reach each other make one cluster") {
  SECTION("IPv6 alone") {
    group all(3, "[::1]:0");
    CHECK(all.all_see(3));
  }
  SECTION("a dual-stack member among IPv4 ones, by a name of this host") {
    group all(2);
    auto options = quick_options("both", "[::]:0");
    options.seed_hint = all[0].address();
    peer both(all.context, std::move(options));
    REQUIRE_FALSE(both.driver().open());
    both.driver().start();
    CHECK(both.driver().advertised_address().is_v4());
    both.join({"localhost:" + std::to_string(all[0].driver().local_address().port)});
    CHECK(all.all_see(3));
    CHECK(both.present() == 3);
  }
}

TEST_CASE("A member that closes without a word is failed by the others") {
  group all(3);
  all[2].kill();
  all.members.pop_back();
  CHECK(all[0].hears(event_kind::failed, "member-2"));
  CHECK(all[1].hears(event_kind::failed, "member-2"));
  CHECK(all.all_see(2));
  CHECK(all[0].driver().count().refused + all[1].driver().count().refused > 0);
}

TEST_CASE("A member that only falls silent is failed too") {
  group all(3);
  const auto address = all[2].driver().local_address();
  all[2].kill();
  all.members.pop_back();
  // The port stays open for both protocols, so that nothing but silence tells.
  std::optional<listening_sockets> mute;
  REQUIRE_FALSE(open_listening(asio::make_strand(all.context), address, mute));
  CHECK(all[0].hears(event_kind::failed, "member-2"));
  CHECK(all[1].hears(event_kind::failed, "member-2"));
}

TEST_CASE("A member that leaves is seen as left, not failed, and may stop then") {
  group all(3);
  const auto* done = all[2].completion(all[2].leave());
  REQUIRE(done);
  CHECK_FALSE(done->error);
  CHECK(done->count > 0);
  all[2].kill();
  all.members.pop_back();
  CHECK(all[0].hears(event_kind::left, "member-2"));
  CHECK(all[1].hears(event_kind::left, "member-2"));
  CHECK_FALSE(all[0].heard(event_kind::failed, "member-2"));
  CHECK_FALSE(all[1].heard(event_kind::failed, "member-2"));
}

TEST_CASE("Messages travel by datagram, and larger ones by stream") {
  group all(2);
  const std::string large(200'000, 'x');
  all[0].send("member-1", "small", false);
  REQUIRE(run_until(all.context, [&] { return all[1].messages.size() == 1; }));
  const auto* done = all[0].completion(all[0].send("member-1", large, true));
  REQUIRE(done);
  CHECK_FALSE(done->error);
  REQUIRE(all[1].messages.size() == 2);
  CHECK(all[1].messages[0] == std::pair<std::string, std::string>("member-0", "small"));
  CHECK(all[1].messages[1] == std::pair{std::string("member-0"), large});
}

TEST_CASE("A seed where nobody listens is said to have failed, while the member serves alone") {
  asio::io_context context;
  std::string nobody;
  {
    peer gone(context, "gone");
    nobody = gone.address();
  }
  peer alone(context, "alone");
  const auto* done = alone.completion(alone.join({nobody}));
  REQUIRE(done);
  CHECK(done->error == errc::no_seed_answered);
  CHECK_THAT(done->detail, Catch::Matchers::ContainsSubstring(nobody));
  CHECK(alone.present() == 1);
}

TEST_CASE("What is no seed fails the join by its text") {
  asio::io_context context;
  peer alone(context, "alone");
  const auto* done = alone.completion(alone.join({"no seed:7946"}));
  REQUIRE(done);
  CHECK(done->error);
  CHECK_THAT(done->lookups, Catch::Matchers::ContainsSubstring("no seed:7946"));
}

TEST_CASE("A seed of another cluster refuses, and the reason reaches who asked") {
  asio::io_context context;
  peer ours(context, "ours");
  auto options = quick_options("theirs", "127.0.0.1:0");
  options.cluster = "another";
  peer theirs(context, std::move(options));
  REQUIRE_FALSE(theirs.driver().open());
  theirs.driver().start();
  const auto* done = theirs.completion(theirs.join({ours.address()}));
  REQUIRE(done);
  CHECK(done->error == errc::wrong_cluster);
  CHECK(ours.present() == 1);
  CHECK(theirs.present() == 1);
  CHECK(ours.driver().count().dropped_wrong_cluster > 0);
}

TEST_CASE("Datagrams that aren't ours are dropped and counted") {
  asio::io_context context;
  peer ours(context, "ours");
  wire::codec stranger("another");
  swim::packet packet;
  packet.from.name = "stranger";
  packet.from.epoch = 1;
  packet.body = swim::ping{1, "ours", 1};
  std::vector<std::uint8_t> bytes;
  stranger.encode(packet, bytes);
  const std::string junk = "GET / HTTP/1.1";
  const std::string endless{"lr\1\1\0\4\xff\xff\xff\xfftest", 14};

  asio::ip::udp::socket socket(context, asio::ip::udp::v4());
  const auto to = to_asio<asio::ip::udp>(ours.driver().local_address(), false);
  socket.send_to(asio::buffer(bytes), to);
  socket.send_to(asio::buffer(junk), to);
  socket.send_to(asio::buffer(endless), to);
  socket.send_to(asio::buffer(std::string()), to);
  const auto& count = ours.driver().count();
  CHECK(run_until(context, [&] { return count.datagrams_received == 4; }));
  CHECK(count.dropped_wrong_cluster == 1);
  CHECK(count.dropped_not_ours == 1);
  CHECK(count.dropped_malformed == 1);
  CHECK(count.dropped_over_limit == 1);
  CHECK(count.datagrams_sent == 0);
}

TEST_CASE("A port in use is a sentence that names it, and the next try may succeed") {
  asio::io_context context;
  auto first = std::make_unique<peer>(context, "first");
  peer second(context, quick_options("second", first->address()));
  const auto found = second.driver().open();
  REQUIRE(found);
  CHECK(found->code == errc::address_in_use);
  CHECK_THAT(found->text, Catch::Matchers::ContainsSubstring(first->address()));
  first.reset();
  CHECK_FALSE(second.driver().open());
}

TEST_CASE("An advertised address is what the member is known by, and a bad one opens nothing") {
  asio::io_context context;
  auto options = quick_options("natted", "127.0.0.1:0");
  options.advertise = endpoint::parse("198.51.100.7:4000");
  peer natted(context, options);
  REQUIRE_FALSE(natted.driver().open());
  CHECK(natted.driver().advertised_address().to_string() == "198.51.100.7:4000");
  CHECK(natted.driver().protocol().self()->address.to_string() == "198.51.100.7:4000");

  options.self.name = "bad";
  options.advertise = endpoint::parse("0.0.0.0:4000");
  peer bad(context, options);
  const auto found = bad.driver().open();
  REQUIRE(found);
  CHECK(found->code == errc::invalid_address);
}

TEST_CASE("A family without a route doesn't wear a member down that is heard over the other") {
  asio::io_context context;
  peer four(context, "four");
  log_memory log;
  auto options = quick_options("both", "[::]:0");
  options.log = base::logger(log.sink(), log_level::warning);
  peer both(context, std::move(options));
  REQUIRE_FALSE(both.driver().open());
  both.driver().start();
  REQUIRE(both.completion(both.join({four.address()})));
  REQUIRE(run_until(context, [&] { return four.present() == 2 && both.present() == 2; }));

  // A member is told of where no route leads; documentation addresses are nobody's.
  wire::codec friendly("test");
  swim::packet news;
  news.from.name = "four";
  news.from.epoch = four.driver().protocol().self()->epoch;
  auto far = std::make_shared<swim::record>();
  far->name = "far";
  far->epoch = 1;
  far->incarnation = 1;
  far->address = *endpoint::parse("[2001:db8::9]:7946");
  news.updates.emplace_back().subject = far;
  std::vector<std::uint8_t> bytes;
  friendly.encode(news, bytes);
  asio::ip::udp::socket socket(context, asio::ip::udp::v4());
  const endpoint to = endpoint::v4({127, 0, 0, 1}, both.driver().local_address().port);
  socket.send_to(asio::buffer(bytes), to_asio<asio::ip::udp>(to, false));
  REQUIRE(both.hears(event_kind::failed, "far"));
  if (both.driver().count().send_errors == 0) {
    WARN("this host has a route to 2001:db8::/32, so nothing was tried");
    return;
  }
  const auto& machine = both.driver().protocol();
  for (const auto& line : log.lines())
    UNSCOPED_INFO(line);
  INFO("nacks missed: " << machine.stats().nacks_missed
                        << ", refutations: " << machine.stats().refutations);
  CHECK(machine.local_health() == 0);
  CHECK(both.present() == 2);
}

/// One who is no member asks from an address of his own, as if it were a victim's.
class stranger {
 public:
  explicit stranger(asio::io_context& context)
      : socket_(context, asio::ip::udp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    socket_.non_blocking(true);
  }
  std::size_t ask(peer& whom, const swim::packet& packet) {
    std::vector<std::uint8_t> bytes;
    codec_.encode(packet, bytes);
    socket_.send_to(asio::buffer(bytes),
                    to_asio<asio::ip::udp>(whom.driver().local_address(), false));
    return bytes.size();
  }
  /// Bytes that have come since the last call.
  std::size_t received() {
    std::size_t sum = 0;
    std::array<std::uint8_t, 2000> buffer{};
    std::error_code error;
    asio::ip::udp::endpoint from;
    for (;;) {
      const auto size = socket_.receive_from(asio::buffer(buffer), from, 0, error);
      if (error) return sum;
      sum += size;
    }
  }
  endpoint address() const { return from_asio(socket_.local_endpoint()); }

 private:
  asio::ip::udp::socket socket_;
  wire::codec codec_{"test"};
};

swim::update_command metadata_command(std::uint64_t id, std::string metadata) {
  swim::update_command made{};
  made.id = swim::command_id{id};
  made.metadata = std::move(metadata);
  return made;
}

TEST_CASE("Who isn't known to be where he asks from gets no more bytes than he sent") {
  group all(3);
  // News that would ride along.
  all[0].driver().command(metadata_command(900, std::string(400, 'm')));
  all[1].driver().command(metadata_command(900, std::string(400, 'm')));
  const auto digest = [&](std::size_t i) { return all[i].driver().protocol().view_digest(); };
  REQUIRE(run_until(all.context, [&] {
    return digest(0) == digest(1) && digest(1) == digest(2) &&
           all[0].driver().protocol().queued_updates() == 0;
  }));
  stranger victim(all.context);
  auto self = all[0].driver().protocol().self();
  std::uint64_t withheld = 0;

  swim::packet question;
  question.from = {"s", 77, 1, self->epoch, 3, 4, 1};
  question.from.placement = 0;
  SECTION("a ping") {
    question.body = swim::ping{1, self->name, self->epoch};
  }
  SECTION("a ping for an older life, whose answer is the whole record of the new one") {
    withheld = 1;
    question.body = swim::ping{1, self->name, self->epoch - 1};
  }
  SECTION("a comparison of views in the name of a member") {
    question.from.name = "member-1";
    question.from.epoch = all[1].driver().protocol().self()->epoch;
    question.body = swim::view_compare{{1}};
  }
  SECTION("a knock: a record with the victim's address, and a comparison of views") {
    auto record = std::make_shared<swim::record>();
    record->name = "s";
    record->epoch = 77;
    record->incarnation = 1;
    record->address = victim.address();
    question.updates.emplace_back().subject = record;
    question.body = swim::view_compare{{1}};
  }
  SECTION("an older life of a member, which is told of the newer") {
    withheld = 1;
    self = all[1].driver().protocol().self();
    question.from.name = "member-1";
    question.from.epoch = 1;
    question.body = swim::ping{1, self->name, self->epoch};
  }
  const auto& count = all[0].driver().count();
  const auto before = count.datagrams_received;
  // What a stranger can have in answer is looked at before anything else is sent to where he is.
  std::size_t answered = 0;
  const auto asked = victim.ask(all[0], question);
  REQUIRE(run_until(all.context, [&] {
    answered += victim.received();
    return count.datagrams_received > before + 3;
  }));
  // One who knocks has made himself a member by his own word, and is probed from then on.
  if (question.updates.empty()) CHECK(answered <= asked);
  CHECK(count.replies_withheld >= withheld);
}

TEST_CASE("A program that is executed inherits no socket of a member") {
  const auto open_sockets = [] {
    std::set<int> found;
    for (int each = 0; each < 256; ++each) {
      struct stat about {};
      if (::fstat(each, &about) == 0 && S_ISSOCK(about.st_mode)) found.insert(each);
    }
    return found;
  };
  asio::io_context context;
  asio::ip::tcp::acceptor silent(context, {asio::ip::address_v4::loopback(), 0});
  asio::ip::tcp::socket stranger(context, asio::ip::tcp::v4());
  const auto of_others = open_sockets();
  peer ours(context, "ours");
  stranger.connect(to_asio<asio::ip::tcp>(ours.driver().local_address(), false));
  ours.join({"127.0.0.1:" + std::to_string(silent.local_endpoint().port())});
  REQUIRE(run_until(context, [&] { return ours.driver().gauges().streams_open == 2; }));

  std::size_t sockets = 0;
  for (const int each : open_sockets()) {
    if (of_others.contains(each)) continue;
    CHECK((::fcntl(each, F_GETFD) & FD_CLOEXEC) != 0);
    ++sockets;
  }
  CHECK(sockets >= 4);  // UDP, TCP, and a stream each way.
}

TEST_CASE("A chain of commands that never ends leaves others their turn") {
  asio::io_context context;
  peer one(context, "one");
  bool had_turn = false;
  int commands = 0;
  one.on_batch = [&](std::span<const swim::effect> list) {
    for (const auto& each : list) {
      if (!std::holds_alternative<swim::completed>(each) || had_turn) continue;
      ++commands;
      one.driver().command(
          metadata_command(static_cast<std::uint64_t>(1000 + commands), std::to_string(commands)));
    }
  };
  asio::post(one.driver().get_strand(), [&] {
    one.driver().command(metadata_command(999, "first"));
    asio::post(one.driver().get_strand(), [&] { had_turn = true; });
  });
  CHECK(run_until(context, [&] { return had_turn; }));
  CHECK(commands > 0);
  CHECK(commands < 100);
}

}  // namespace
}  // namespace lifering::net
