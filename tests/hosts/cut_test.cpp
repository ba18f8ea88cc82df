// Networks that fall apart: halves, one direction, one cable. Each fault lasts longer than a
// failure takes to be found with the lan profile, or is so short that nobody may notice.
#include <stdexcept>
#include <thread>

#include "hosts/network.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using words = agent::words;

/// The agents but those of some indices, for what only the others can know.
agents take(agents& all, const std::vector<std::size_t>& indices) {
  agents taken;
  for (const std::size_t i : indices)
    taken.push_back(std::move(all[i]));
  std::erase(all, nullptr);
  return taken;
}

void check_names(const agents& by, const agents& about, const words& story) {
  for (const auto& each : about)
    check_stories(by, each->name(), story);
}

}  // namespace

TEST_CASE("two halves that are cut apart each go on without the other, and come together again",
          "[hosts][partition]") {
  if (!can_make_hosts()) return;
  network net(8);
  auto right = populate(net);
  const auto whole = right[0]->fingerprint();
  net.filter(network::cut({0, 1, 2, 3}, {4, 5, 6, 7}) + network::cut({4, 5, 6, 7}, {0, 1, 2, 3}));
  const auto cut = process::clock::now();
  auto left = take(right, {0, 1, 2, 3});
  await_agreement(left, 4);
  await_agreement(right, 4);
  CHECK(left[0]->fingerprint() != right[0]->fingerprint());
  std::this_thread::sleep_until(cut + fault_time(seconds(40), seconds(120)));
  check_names(left, right, {"joined", "failed"});
  check_names(right, left, {"joined", "failed"});
  net.filter("");
  agents all = take(left, {0, 1, 2, 3});
  for (auto& each : take(right, {0, 1, 2, 3}))
    all.push_back(std::move(each));
  check_agreement_within(all, 8, heal_bound);
  CHECK(all[0]->fingerprint() == whole);
  let_pass(seconds(8));  // What of the old quarrel is still on its way arrives by now.
  await_agreement(all, 8);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (i == j) continue;
      INFO(all[i]->name() << " about " << all[j]->name());
      const bool together = (i < 4) == (j < 4);
      CHECK(all[i]->changes_of(all[j]->name()) ==
            (together ? words{"joined"} : words{"joined", "failed", "joined"}));
    }
  }
  check_selves(all);
}

TEST_CASE("one path that is cut in one direction costs nobody its place", "[hosts][one-way]") {
  if (!can_make_hosts()) return;
  network net(6);
  const auto all = populate(net);
  const auto whole = all[0]->fingerprint();
  net.filter(network::cut({1}, {4}));
  let_pass(fault_time(seconds(40), seconds(120)));
  for (const auto& each : all)
    CHECK(each->fingerprint() == whole);
  check_nothing_else(all);
  net.filter("");
  check_agreement_within(all, 6, heal_bound);
  check_nothing_else(all);
}

TEST_CASE("a host that sends and hears nothing takes nobody down", "[hosts][deaf]") {
  if (!can_make_hosts()) return;
  network net(6);
  const auto all = populate(net);
  const auto whole = all[0]->fingerprint();
  net.filter(network::cut({0, 1, 2, 3, 4}, {5}));
  let_pass(fault_time(seconds(40), seconds(120)));
  check_nothing_else(all, {"n5"});
  net.filter("");
  check_agreement_within(all, 6, heal_bound);
  CHECK(all[0]->fingerprint() == whole);
  check_stories(all, "n5", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n5"});
}

TEST_CASE("a link that is down for a moment is nothing, and for long one failure and one return",
          "[hosts][link]") {
  if (!can_make_hosts()) return;
  network net(6);
  const auto all = populate(net);
  const auto whole = all[0]->fingerprint();
  net.set(3, "link set eth0 down\n");
  let_pass(milliseconds(300));
  net.set(3, "link set eth0 up\n");
  let_pass(seconds(6));
  check_nothing_else(all);

  net.set(3, "link set eth0 down\n");
  const auto down = process::clock::now();
  for (const auto& each : all) {
    if (each->name() != "n3") each->wait_for_event("failed", "n3");
  }
  std::this_thread::sleep_until(down + fault_time(seconds(20), seconds(120)));
  CHECK(all[3]->fingerprint() == whole);  // It keeps its ring and blames nobody.
  net.set(3, "link set eth0 up\n");
  check_agreement_within(all, 6, heal_bound);
  CHECK(all[0]->fingerprint() == whole);
  check_stories(all, "n3", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n3"});
}
