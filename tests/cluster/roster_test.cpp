// Who is present: lists that never change, and which changes concern the ring.
#include "cluster/roster.hpp"

#include "support/catch.hpp"

using lifering::member;
using lifering::member_list;
using lifering::member_phase;
using lifering::member_state;
using lifering::weight;
using lifering::cluster_detail::ring_nodes;
using lifering::cluster_detail::roster;

namespace {

member make(std::string name) {
  member result;
  result.name = std::move(name);
  result.epoch = 1;
  return result;
}

auto apply(roster& names, const member& subject) {
  return names.apply(std::make_shared<const member>(subject));
}

}  // namespace

TEST_CASE("a published list is sorted by bytes and never changes", "[roster]") {
  roster names;
  for (const auto* name : {"b", "\xff", "a", "ab"})
    apply(names, make(name));
  const member_list first(names.publish());
  apply(names, make("c"));
  const member_list second(names.publish());

  REQUIRE(first.size() == 4);
  CHECK(first[0].name == "a");
  CHECK(first[1].name == "ab");
  CHECK(first[2].name == "b");
  CHECK(first[3].name == "\xff");
  CHECK(second.size() == 5);
  CHECK(first.find("c") == nullptr);
  REQUIRE(second.find("c") != nullptr);
  CHECK(second.find("c")->name == "c");
}

TEST_CASE("a list without changes is published without a copy", "[roster]") {
  roster names;
  apply(names, make("a"));
  CHECK(names.publish() == names.publish());
}

TEST_CASE("what is known before a change is told", "[roster]") {
  roster names;
  auto subject = make("a");
  CHECK_FALSE(apply(names, subject).has_value());
  subject.state = member_state::suspect;
  REQUIRE(apply(names, subject)->state == member_state::alive);
  subject.state = member_state::failed;
  REQUIRE(apply(names, subject)->state == member_state::suspect);
  CHECK_FALSE(apply(names, subject).has_value());
  CHECK(names.publish()->empty());
}

TEST_CASE("the ring changes with who serves, with weights and with zones, and nothing else",
          "[roster]") {
  roster names;
  auto subject = make("a");
  const auto changes_ring = [&] {
    apply(names, subject);
    return names.take_ring_changes() > 0;
  };
  CHECK(changes_ring());
  CHECK_FALSE(changes_ring());
  subject.metadata = "m";
  subject.incarnation = 7;
  subject.epoch = 9;
  CHECK_FALSE(changes_ring());
  subject.state = member_state::suspect;
  CHECK_FALSE(changes_ring());
  subject.weight = *weight::parse("2");
  CHECK(changes_ring());
  subject.zone = "z";
  CHECK(changes_ring());
  subject.phase = member_phase::draining;
  CHECK(changes_ring());
  subject.weight = weight{};
  CHECK_FALSE(changes_ring());
  subject.phase = member_phase::serving;
  CHECK(changes_ring());
  subject.state = member_state::left;
  CHECK(changes_ring());
}

TEST_CASE("only members that serve are nodes", "[roster]") {
  roster names;
  auto joining = make("joining");
  joining.phase = member_phase::joining;
  auto draining = make("draining");
  draining.phase = member_phase::draining;
  auto observer = make("observer");
  observer.weight = *weight::parse("0");
  auto suspect = make("suspect");
  suspect.state = member_state::suspect;
  for (const auto& each : {joining, draining, observer, suspect})
    apply(names, each);

  const auto nodes = ring_nodes(*names.publish());
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].name == "observer");
  CHECK(nodes[0].weight.owns_nothing());
  CHECK(nodes[1].name == "suspect");
}
