// Members that seal: who is heard, and what is not forgotten while keys and modes change.
#include <lifering/error.hpp>

#include "net/sealed_group.hpp"
#include "wire/vouchers.hpp"

namespace lifering::net {
namespace {

using test::key_of;
using test::peer;
using test::sealed_group;

TEST_CASE(
    "Members that require the seal come to see each other, prove themselves, and see who dies",
    "[seal]") {
  sealed_group all;
  for (int i = 0; i < 4; ++i)
    all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(4));
  REQUIRE(all.live_for(10));
  CHECK(all.count_events(event_kind::suspected) == 0);
  for (const auto& each : all.members) {
    CHECK(each->driver().count().dropped_not_sealed == 0);
    CHECK(each->driver().count().dropped_cannot_open == 0);
    CHECK(each->driver().protocol().local_health() == 0);
  }
  all.members[3]->kill();
  all.members.pop_back();
  for (const auto& each : all.members)
    CHECK(each->hears(event_kind::failed, "member-3"));
}

TEST_CASE("A reliable message crosses a sealed stream", "[seal]") {
  sealed_group all;
  all.add_joined(seal_mode::require);
  all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(2));
  const std::string large(300'000, 'x');
  const auto* done = all.members[0]->completion(all.members[0]->send("member-1", large, true));
  REQUIRE(done);
  CHECK_FALSE(done->error);
  REQUIRE(all.members[1]->messages.size() == 1);
  CHECK(all.members[1]->messages[0].second == large);
}

TEST_CASE("From off through accept to require and back, member by member, nobody is lost",
          "[seal]") {
  sealed_group all;
  all.placement = 7;
  for (int i = 0; i < 4; ++i)
    all.add_joined(seal_mode::off);
  REQUIRE(all.all_see(4));
  for (const auto mode :
       {seal_mode::accept, seal_mode::require, seal_mode::accept, seal_mode::off}) {
    for (const auto& ring : all.rings) {
      REQUIRE_FALSE(ring->set_mode(mode));
      REQUIRE(all.live_for(2));
    }
    REQUIRE(all.all_see(4));
  }
  CHECK(all.count_events(event_kind::failed) == 0);
  CHECK(all.count_events(event_kind::suspected) == 0);
  // What proves a life says nothing of a placement, and is no packet of another one.
  for (const auto& each : all.members)
    CHECK(each->driver().protocol().stats().dropped_wrong_placement == 0);
}

TEST_CASE("A member in one mode joins through one in a neighbouring mode", "[seal]") {
  using pair = std::pair<seal_mode, seal_mode>;
  const auto modes = GENERATE(values<pair>({{seal_mode::off, seal_mode::accept},
                                            {seal_mode::accept, seal_mode::off},
                                            {seal_mode::accept, seal_mode::require},
                                            {seal_mode::require, seal_mode::accept}}));
  sealed_group all;
  peer& seed = all.add(modes.first);
  peer& joiner = all.add(modes.second);
  const auto* done = joiner.completion(joiner.join({seed.address()}));
  REQUIRE(done);
  CHECK_FALSE(done->error);
  CHECK(all.all_see(2));
  REQUIRE(all.live_for(5));
  CHECK(all.count_events(event_kind::failed) == 0);
}

TEST_CASE("A member with another key is refused and counted, and told why", "[seal]") {
  sealed_group all;
  peer& seed = all.add(seal_mode::require, {1});
  peer& wrong = all.add(GENERATE(seal_mode::require, seal_mode::accept), {2});
  const auto* done = wrong.completion(wrong.join({seed.address()}));
  REQUIRE(done);
  CHECK(done->error == errc::wrong_key);
  CHECK_THAT(done->detail,
             Catch::Matchers::ContainsSubstring(std::error_code(errc::wrong_key).message()));
  CHECK(seed.driver().count().dropped_cannot_open > 0);
  CHECK(seed.present() == 1);
  CHECK(wrong.present() == 1);
}

TEST_CASE("A member without any key is refused where the seal is required, and told why",
          "[seal]") {
  sealed_group all;
  peer& seed = all.add(seal_mode::require, {1});
  peer plain(all.context, "plain");
  const auto* done = plain.completion(plain.join({seed.address()}));
  REQUIRE(done);
  CHECK(done->error == errc::wrong_key);
  CHECK_THAT(done->detail,
             Catch::Matchers::ContainsSubstring(std::error_code(errc::wrong_key).message()));
  CHECK(seed.driver().count().dropped_not_sealed > 0);
  CHECK(seed.present() == 1);
}

TEST_CASE("Keys are rotated again and again while members talk, and nothing is dropped", "[seal]") {
  sealed_group all;
  for (int i = 0; i < 3; ++i)
    all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(3));
  for (std::uint8_t next = 2; next < 8; ++next) {
    const auto old_id = key_of(static_cast<std::uint8_t>(next - 1))->id();
    for (const auto& ring : all.rings)
      REQUIRE_FALSE(ring->add(key_of(next)));
    for (const auto& ring : all.rings) {
      REQUIRE_FALSE(ring->use(key_of(next)->id()));
      REQUIRE(all.live_for(1));
    }
    // What the old key sealed must have arrived.
    REQUIRE(all.live_for(1));
    for (const auto& ring : all.rings)
      REQUIRE_FALSE(ring->remove(old_id));
  }
  CHECK(all.count_events(event_kind::suspected) == 0);
  for (const auto& each : all.members)
    CHECK(each->driver().count().dropped_cannot_open == 0);
}

TEST_CASE("A join between modes that don't meet fails for its true reason", "[seal]") {
  sealed_group all;
  const auto [ours, theirs] = GENERATE(std::pair{seal_mode::require, seal_mode::off},
                                       std::pair{seal_mode::off, seal_mode::accept});
  // The second pair differs in its keys besides.
  peer& seed = all.add(ours, {1});
  peer& joiner = all.add(theirs, {static_cast<std::uint8_t>(ours == seal_mode::off ? 2 : 1)});
  const auto id = joiner.join({seed.address()});
  const auto* done = joiner.completion(id);
  REQUIRE(done != nullptr);
  CHECK_THAT(done->detail,
             Catch::Matchers::ContainsSubstring(std::error_code(errc::wrong_key).message()));
}

TEST_CASE("A member whose packets can't be opened any more stays for a while", "[seal]") {
  sealed_group all;
  peer& a = all.add_joined(seal_mode::require);
  peer& b = all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(2));
  REQUIRE(all.live_for(3));
  // The mistake: each goes to a key that the other doesn't have.
  for (std::size_t i = 0; i < 2; ++i) {
    const auto next = static_cast<std::uint8_t>(10 + i);
    REQUIRE_FALSE(all.rings[i]->add(key_of(next)));
    REQUIRE_FALSE(all.rings[i]->use(key_of(next)->id()));
    REQUIRE_FALSE(all.rings[i]->remove(key_of(1)->id()));
  }
  REQUIRE(all.live_for(20));
  CHECK(a.driver().count().dropped_cannot_open > 0);
  CHECK(a.driver().count().presumed_acks > 0);
  CHECK_FALSE(a.heard(event_kind::failed, "member-1"));
  CHECK_FALSE(b.heard(event_kind::failed, "member-0"));
  // Mended in time: nothing has happened.
  REQUIRE_FALSE(all.rings[0]->add(key_of(11)));
  REQUIRE_FALSE(all.rings[1]->add(key_of(10)));
  REQUIRE(all.live_for(5));
  CHECK(all.count_events(event_kind::failed) == 0);
  CHECK(a.present() == 2);
  CHECK(b.present() == 2);
}

TEST_CASE("A message to a member may fill its datagram, since it vouches for nobody", "[seal]") {
  sealed_group all;
  peer& from = all.add(seal_mode::require);
  peer& to = all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(2));
  const auto& settings = from.driver().protocol().settings();
  const std::size_t largest = from.driver().protocol().direct_payload_max();
  // Less would be left, beside the sender and the message's number, in the room for news.
  CHECK(largest + wire::vouchers_size_max > settings.datagram_budget);
  const auto* refused =
      from.completion(from.send("member-1", std::string(largest + 1, 'x'), false));
  REQUIRE(refused);
  CHECK(refused->error == errc::message_too_large);
  from.send("member-1", std::string(largest, 'x'), false);
  REQUIRE(test::run_until(all.context, [&] { return !to.messages.empty(); }));
  CHECK(to.messages.front().second.size() == largest);
}

TEST_CASE("Datagrams keep their limit in every mode", "[seal]") {
  sealed_group all;
  for (int i = 0; i < 2; ++i)
    all.add(seal_mode::require);
  for (const auto& each : all.members) {
    const auto& settings = each->driver().protocol().settings();
    CHECK(settings.vouching_room == wire::vouchers_size_max);
    CHECK(settings.datagram_budget + 10 + std::string("test").size() + 49 + wire::proof_size_max +
              wire::vouchers_size_max ==
          settings.limits.datagram);
  }
}

}  // namespace
}  // namespace lifering::net
