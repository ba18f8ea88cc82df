// Lives that must prove that they live now before their sealed packets change anything.
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include "net/sealed_group.hpp"

namespace lifering::net {
namespace {

using test::forger;
using test::has_ack;
using test::peer;
using test::ring_of;
using test::run_until;
using test::sealed_group;

TEST_CASE("A life that is not known changes nothing before it has echoed a fresh number",
          "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  forger stranger(all.context, all.rings[0]);

  const auto asked = stranger.ping_of("stranger", 9, ours);
  stranger.send(ours, asked);
  auto got = stranger.await();
  REQUIRE(got);
  CHECK(std::holds_alternative<std::monostate>(got->packet.body));  // Not answered, but challenged,
  const auto challenge = got->receipt.proof.challenge;
  REQUIRE(challenge != 0);
  CHECK(got->size <= asked.size());  // and with no more bytes than it sent.
  CHECK(ours.driver().count().dropped_unproven == 1);
  CHECK(ours.present() == 1);

  SECTION("the echo makes it heard") {
    stranger.send(ours, stranger.echo_of("stranger", 9, challenge));
    stranger.send(ours, stranger.ping_of("stranger", 9, ours));
    got = stranger.await();
    REQUIRE(got);
    CHECK(has_ack(*got));
    CHECK(ours.driver().count().dropped_unproven == 1);
    CHECK(ours.present() == 2);  // Now its news counts.

    // What it sent before its proof is not taken any more.
    stranger.send(ours, asked);
    CHECK(run_until(all.context, [&] { return ours.driver().count().dropped_repeated == 1; }));
  }
  SECTION("what it says beside the echo counts, and is told to who asks for an echo of ours") {
    stranger.send(ours, stranger.ping_of("stranger", 9, ours, {0, challenge}));
    got = stranger.await();
    REQUIRE(got);
    CHECK(has_ack(*got));
    CHECK(ours.present() == 2);

    for (const std::size_t room : {std::size_t{130}, std::size_t{1000}}) {
      const auto dare = stranger.challenge_of("another", 9, 4710, room);
      stranger.send(ours, dare);
      got = stranger.await();
      REQUIRE(got);
      CHECK(got->receipt.proof.echo == 4710);
      CHECK(got->size <= dare.size());
      const bool tells = std::any_of(got->packet.updates.begin(), got->packet.updates.end(),
                                     [](const auto& u) { return u.subject_name() == "invented"; });
      CHECK(tells == (room == 1000));
    }
  }
  SECTION("another number doesn't") {
    stranger.send(ours, stranger.echo_of("stranger", 9, challenge + 1));
    stranger.send(ours, stranger.ping_of("stranger", 9, ours));
    got = stranger.await();
    REQUIRE(got);
    CHECK(got->receipt.proof.challenge != 0);
    CHECK(ours.driver().count().dropped_unproven == 2);
  }
  SECTION("nor does it make another life heard") {
    stranger.send(ours, stranger.echo_of("stranger", 9, challenge));
    stranger.send(ours, stranger.ping_of("stranger", 10, ours));
    got = stranger.await();
    REQUIRE(got);
    CHECK(got->receipt.proof.challenge != 0);
    CHECK(ours.driver().count().dropped_unproven == 2);
  }
}

TEST_CASE("A wrong echo is asked for anew beside a question, and never else", "[seal]") {
  // Who asks us has perhaps been told another number in our name: by an earlier life of ours at
  // this address, or by who plays such a packet again.
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  forger stranger(all.context, all.rings[0]);
  stranger.send(ours, stranger.echo_of("stranger", 9, 4710));
  stranger.send(ours, stranger.proof_of("stranger", 9, {4712, 4710}));
  auto got = stranger.await();
  REQUIRE(got);
  CHECK(got->receipt.proof.echo == 4712);
  CHECK(got->receipt.proof.challenge == 0);
  CHECK(ours.driver().count().challenges_sent == 0);

  const auto asked = stranger.ping_of("stranger", 9, ours, {0, 4710});
  stranger.send(ours, asked);
  got = stranger.await();
  REQUIRE(got);
  CHECK(std::holds_alternative<std::monostate>(got->packet.body));
  CHECK(got->size <= asked.size());
  const auto challenge = got->receipt.proof.challenge;
  REQUIRE(challenge != 0);
  stranger.send(ours, stranger.ping_of("stranger", 9, ours, {0, challenge}));
  got = stranger.await();
  REQUIRE(got);
  CHECK(has_ack(*got));
}

TEST_CASE("A member answers a challenge at once, with no more bytes than it came with", "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require, {1}, std::string(200, 'n'));
  forger stranger(all.context, all.rings[0]);
  // Its own name is longer than ours, so a short challenge could not be answered within its size.
  const auto small = stranger.ping_of("s", 9, ours, {4710, 0});
  stranger.send(ours, small);
  const auto got = stranger.await();
  REQUIRE(got);
  CHECK(got->receipt.proof.echo == 4710);
  CHECK(got->receipt.proof.challenge != 0);
  CHECK(got->size <= small.size());

  swim::packet bare;
  bare.from.name = "s";
  bare.from.epoch = 10;
  wire::codec other("test", all.rings[0]);
  std::vector<std::uint8_t> tiny;
  other.encode(bare, tiny, {4712, 0});
  stranger.send(ours, tiny);
  CHECK(run_until(all.context, [&] { return ours.driver().count().replies_withheld == 1; }));
}

TEST_CASE(
    "The first ping to a life comes with a challenge, and again when it is dropped for a proof",
    "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  forger stranger(all.context, all.rings[0]);
  const auto is_probe = [](const forger::answer& got) {
    const auto* asked = std::get_if<swim::ping>(&got.packet.body);
    return asked != nullptr && asked->target == "invented";
  };

  // A member that the stranger tells of lives where the stranger does, so it will be probed there.
  const auto told = stranger.ping_of("stranger", 9, ours, {}, stranger.address());
  stranger.send(ours, told);
  auto got = stranger.await([](const auto& each) { return each.receipt.proof.challenge != 0; });
  REQUIRE(got);
  stranger.send(ours, stranger.ping_of("stranger", 9, ours, {0, got->receipt.proof.challenge},
                                       stranger.address()));
  got = stranger.await(is_probe);
  REQUIRE(got);
  const auto challenge = got->receipt.proof.challenge;
  const auto sequence = std::get<swim::ping>(got->packet.body).sequence;
  REQUIRE(challenge != 0);

  // It drops the ping and wants a proof too: the same ping comes with the echo.
  stranger.send(ours, stranger.proof_of("invented", 7, {4710, challenge}));
  got = stranger.await([](const auto& each) { return each.receipt.proof.echo == 4710; });
  REQUIRE(got);
  REQUIRE(is_probe(*got));
  CHECK(std::get<swim::ping>(got->packet.body).sequence == sequence);
  CHECK(got->receipt.proof.challenge == 0);

  // Should the echo have been lost: the next packet has it too.
  stranger.send(ours, stranger.ack_of("invented", 7, sequence));
  got = stranger.await([&](const auto& each) {
    return is_probe(each) && std::get<swim::ping>(each.packet.body).sequence > sequence;
  });
  REQUIRE(got);
  CHECK(got->receipt.proof.challenge == 0);
  CHECK(got->receipt.proof.echo == 4710);
  CHECK(ours.driver().protocol().stats().indirect_probes == 0);
}

TEST_CASE("A life that a proven one vouches for is heard at once, but nothing that it sent before",
          "[seal]") {
  sealed_group group;
  peer& ours = group.add(seal_mode::require);
  forger teller(group.context, group.rings[0]);
  forger invented(group.context, group.rings[0]);
  const auto recorded = invented.ping_of("invented", 7, ours);
  teller.trust(invented.ping_of("invented", 7, ours));

  teller.send(ours, teller.ping_of("teller", 7, ours, {}, invented.address()));
  auto got = teller.await([](const auto& each) { return each.receipt.proof.challenge != 0; });
  REQUIRE(got);
  const wire::proof echo{0, got->receipt.proof.challenge};
  teller.send(ours, teller.ping_of("teller", 7, ours, echo, invented.address()));
  REQUIRE(teller.await(has_ack));

  invented.send(ours, recorded);
  CHECK(run_until(group.context, [&] { return ours.driver().count().dropped_repeated == 1; }));
  const auto unproven = ours.driver().count().dropped_unproven;
  invented.send(ours, invented.ping_of("invented", 7, ours));
  got = invented.await([](const auto& each) { return has_ack(each); });
  REQUIRE(got);
  CHECK(got->receipt.proof.challenge == 0);
  CHECK(ours.driver().count().dropped_unproven == unproven);
}

TEST_CASE("A packet of a known member that was recorded in its earlier life is worth nothing",
          "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  peer& theirs = all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(2));
  REQUIRE(all.live_for(2));
  // As if recorded in a life before: another epoch of the same name, sealed with the right key.
  forger recorder(all.context, all.rings[0]);
  const auto old_epoch = theirs.driver().protocol().self()->epoch - 1;
  for (int i = 0; i < 5; ++i)
    recorder.send(ours, recorder.ping_of("member-1", old_epoch, ours));
  CHECK(run_until(all.context, [&] { return ours.driver().count().dropped_unproven >= 5; }));
  CHECK(ours.present() == 2);
  CHECK(all.count_events(event_kind::superseded) == 0);
  CHECK(all.count_events(event_kind::suspected) == 0);
}

TEST_CASE("The frame that refuses a stranger's stream is worth nothing as a datagram", "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  // A sealed frame that no key of ours opens.
  wire::codec junk("test", ring_of(seal_mode::require, {9}));
  swim::packet request;
  request.from.name = "stranger";
  request.from.epoch = 5;
  std::vector<std::uint8_t> bytes;
  junk.encode(request, bytes, {4711, 0});
  asio::ip::tcp::socket caller(all.context);
  caller.connect(to_asio<asio::ip::tcp>(ours.driver().local_address(), false));
  asio::write(caller, asio::buffer(bytes));
  std::vector<std::uint8_t> answer(2000);
  std::size_t size = 0;
  caller.async_read_some(asio::buffer(answer), [&](std::error_code, std::size_t n) { size = n; });
  REQUIRE(run_until(all.context, [&] { return size > 0; }));
  answer.resize(size);
  // Whoever holds the key sees that it is a proof alone, which changes nothing wherever it is
  // shown.
  wire::codec holder("test", all.rings[0]);
  swim::packet said;
  REQUIRE(holder.decode_frame(answer, said) == wire::decode_error::none);
  CHECK(holder.last_receipt().proof.echo != 0);
  CHECK(std::holds_alternative<std::monostate>(said.body));
}

TEST_CASE("Frames that were recorded on one sealed stream are refused on another", "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  // Who opens a stream and sends frames without having echoed our number.
  wire::codec recorded("test", all.rings[0]);
  swim::packet request;
  request.from.name = "old";
  request.from.epoch = 5;
  request.body = swim::sync_request{true, false};
  std::vector<std::uint8_t> bytes;
  recorded.encode(request, bytes, {0, 12345});
  asio::ip::tcp::socket caller(all.context);
  caller.connect(to_asio<asio::ip::tcp>(ours.driver().local_address(), false));
  asio::write(caller, asio::buffer(bytes));
  CHECK(run_until(all.context, [&] { return ours.driver().count().dropped_unproven == 1; }));
  CHECK(ours.driver().protocol().stats().syncs_served == 0);
  CHECK(ours.present() == 1);
}

}  // namespace
}  // namespace lifering::net
