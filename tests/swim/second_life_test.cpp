// Leaving and joining again with the same machine; and whether peers hold the same ring.
#include <lifering/error.hpp>

#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

TEST_CASE("who was suspected when we left isn't failed by our coming back", "[swim]") {
  village v(5);
  v.form();
  v.freeze(3);
  REQUIRE(v.run_until([&] { return v.state(0, "m4") == member_state::suspect; }, 30s));
  v.leave(0);
  v.run_for(100ms);  // Three of the others acknowledged; we hear nothing any more.
  v.thaw(3);
  v.run_for(90s);  // Long past every suspicion.
  REQUIRE(v.state(0, "m4") == member_state::suspect);
  REQUIRE(v.state(1, "m4") == member_state::alive);
  v.join(0, 1);
  v.run_for(60s);
  CHECK(v.state(0, "m4") == member_state::alive);
  for (std::size_t who = 0; who < 5; ++who)
    CHECK(v.count(who, event_kind::failed, "m4") == 0);
}

TEST_CASE("who died while we were gone is found dead after we come back, not at once", "[swim]") {
  village v(4);
  v.form();
  v.leave(0);
  v.run_for(1s);
  v.vanish(3);
  REQUIRE(v.run_until([&] { return v.state(1, "m4") == member_state::failed; }, 60s));
  v.join(0, 1);
  REQUIRE(v.run_until([&] { return v.state(0, "m4") == member_state::failed; }, 60s));
  CHECK(v.count(0, event_kind::failed, "m4") == 1);
  CHECK(v.count(0, event_kind::failed, "m2") == 0);
}

TEST_CASE("what is set after a leave is heard of nobody, and said by the next life", "[swim]") {
  village v(3);
  v.form();
  v.leave(0);
  v.run_for(5s);
  v.at(0).done.clear();
  update_command change{};
  change.id = command_id{77};
  change.metadata = "next";
  change.phase = member_phase::draining;
  v.command(0, change);
  REQUIRE(v.at(0).done.size() == 1);
  CHECK_FALSE(v.at(0).done.front().error);
  v.run_for(5s);
  CHECK(v.state(1, "m1") == member_state::left);
  v.join(0, 1);
  REQUIRE(v.run_until([&] { return v.all_see(3); }, 10s));
  view_row row;
  REQUIRE(v.machine(2).find_member("m1", row));
  CHECK(row.subject->metadata == "next");
  CHECK(row.subject->phase == member_phase::draining);
}

TEST_CASE("agreement counts what peers said of the ring that we hold now", "[swim]") {
  village v(4);
  v.form();
  v.run_for(30s);
  const auto seen = [&] { return v.machine(0).agreement(v.now()); };
  CHECK(seen().agreeing == 3);
  CHECK(seen().unheard == 0);
  const auto change = v.now();
  v.machine(0).set_ring_fingerprint(7);
  CHECK(seen().agreeing == 0);
  CHECK(seen().differing == 0);
  CHECK(seen().unheard == 3);
  v.run_for(30s);
  CHECK(seen().differing == 3);
  CHECK(seen().since == base::never);
  for (std::size_t who = 1; who < 4; ++who)
    v.machine(who).set_ring_fingerprint(7);
  v.run_for(30s);
  CHECK(seen().agreeing == 3);
  CHECK(seen().differing == 0);
  CHECK(seen().since >= change + 29s);
  CHECK(seen().since < v.now());
}
