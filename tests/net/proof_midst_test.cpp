// What may come between a challenge and its echo: other modes, and a flood of other challenges.
#include <lifering/error.hpp>

#include "net/sealed_group.hpp"

namespace lifering::net {
namespace {

using test::forger;
using test::has_ack;
using test::peer;
using test::ring_of;
using test::run_until;
using test::sealed_group;

TEST_CASE("A life that is asked for a proof in one mode is heard with it in each other one",
          "[seal]") {
  const auto before = GENERATE(seal_mode::accept, seal_mode::require);
  const auto after = GENERATE(seal_mode::off, seal_mode::accept, seal_mode::require);
  sealed_group all;
  peer& ours = all.add(before);
  forger stranger(all.context, ring_of(seal_mode::accept, {1}));
  stranger.send(ours, stranger.ping_of("stranger", 9, ours));
  auto got = stranger.await();
  REQUIRE(got);
  const auto challenge = got->receipt.proof.challenge;
  REQUIRE(challenge != 0);
  REQUIRE_FALSE(all.rings[0]->set_mode(after));
  stranger.send(ours, stranger.ping_of("stranger", 9, ours, {0, challenge}));
  got = stranger.await(has_ack);
  REQUIRE(got);
  CHECK(got->receipt.sealed == (after != seal_mode::off));
  CHECK(ours.driver().count().challenges_sent == 1);

  // A proof is one whatever the mode was when it came.
  REQUIRE_FALSE(all.rings[0]->set_mode(seal_mode::require));
  stranger.send(ours, stranger.ping_of("stranger", 9, ours));
  REQUIRE(stranger.await(has_ack));
  CHECK(ours.driver().count().challenges_sent == 1);
}

TEST_CASE("A life that was heard without a proof, since nothing was sealed, must bring one later",
          "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::off);
  forger stranger(all.context, ring_of(seal_mode::accept, {1}));
  stranger.send(ours, stranger.ping_of("stranger", 9, ours));
  REQUIRE(stranger.await(has_ack));
  REQUIRE_FALSE(all.rings[0]->set_mode(seal_mode::require));
  stranger.send(ours, stranger.ping_of("stranger", 9, ours));
  const auto got = stranger.await([](const auto& each) { return each.receipt.sealed; });
  REQUIRE(got);
  CHECK_FALSE(has_ack(*got));
  CHECK(got->receipt.proof.challenge != 0);
}

TEST_CASE("A member that joins while a mode changes to the next one comes in all the same",
          "[seal]") {
  struct rollout {
    seal_mode seed, joiner;
    std::size_t who;
    seal_mode then;
  };
  const auto change = GENERATE(values<rollout>({
      {seal_mode::off, seal_mode::off, 0, seal_mode::accept},
      {seal_mode::off, seal_mode::off, 1, seal_mode::accept},
      {seal_mode::accept, seal_mode::off, 1, seal_mode::accept},
      {seal_mode::off, seal_mode::accept, 0, seal_mode::accept},
      {seal_mode::accept, seal_mode::accept, 0, seal_mode::require},
      {seal_mode::accept, seal_mode::accept, 1, seal_mode::require},
      {seal_mode::require, seal_mode::require, 0, seal_mode::accept},
      {seal_mode::require, seal_mode::accept, 1, seal_mode::require},
      {seal_mode::accept, seal_mode::accept, 0, seal_mode::off},
      {seal_mode::accept, seal_mode::accept, 1, seal_mode::off},
  }));
  for (int turns = 0; turns < 20; ++turns) {
    INFO(to_string(change.seed) << " and " << to_string(change.joiner) << ", " << change.who
                                << " to " << to_string(change.then) << " after " << turns);
    sealed_group all;
    peer& seed = all.add(change.seed);
    peer& joiner = all.add(change.joiner);
    const auto asked = joiner.join({seed.address()});
    for (int turn = 0; turn < turns && !joiner.is_completed(asked); ++turn)
      all.context.run_one_for(std::chrono::milliseconds(10));
    REQUIRE_FALSE(all.rings[change.who]->set_mode(change.then));
    const auto* done = joiner.completion(asked);
    REQUIRE(done);
    INFO(done->error.message() << ": " << done->detail);
    CHECK_FALSE(done->error);
    CHECK(all.all_see(2));
  }
}

TEST_CASE("A flood of distinct challenges is answered byte for byte and costs no member its place",
          "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(2));
  REQUIRE(all.live_for(3));
  const auto before = ours.driver().count();

  // Holders of the key at many places, each time as another life that wants another number.
  std::vector<std::unique_ptr<forger>> crowd;
  for (int i = 0; i < 40; ++i)
    crowd.push_back(std::make_unique<forger>(all.context, all.rings[0]));
  std::size_t asked = 0;
  std::size_t answered = 0;
  std::uint64_t number = 2;
  for (int round = 0; round < 50; ++round) {
    for (auto& each : crowd) {
      const auto dare =
          each->challenge_of("life-" + std::to_string(number), number, number, 200 + number % 800);
      each->send(ours, dare);
      asked += dare.size();
      number += 2;
    }
    for (auto& each : crowd) {
      const auto got = each->await();
      REQUIRE(got);
      CHECK(got->receipt.proof.echo != 0);
      answered += got->size;
    }
  }
  CHECK(answered <= asked);
  CHECK(answered > asked / 4);
  CHECK(ours.driver().count().challenges_sent == before.challenges_sent + 2000);
  CHECK(ours.driver().gauges().datagram_bytes_queued == 0);

  // They have proved nothing, and the one who has is heard as before.
  CHECK(ours.present() == 2);
  REQUIRE(all.live_for(5));
  CHECK(ours.driver().count().challenges_sent == before.challenges_sent + 2000);
  CHECK(ours.driver().count().dropped_unproven == before.dropped_unproven);
  CHECK(all.count_events(event_kind::suspected) == 0);
  CHECK(all.members[1]->driver().protocol().local_health() == 0);
}

}  // namespace
}  // namespace lifering::net
