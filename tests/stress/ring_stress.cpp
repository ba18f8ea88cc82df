// The whole ring under threads: a hundred readers beside a hundred writers.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <lifering/ring.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ring/reader_slots.hpp"
#include "support/catch.hpp"

namespace {

using lifering::hash_ring;
using lifering::placement_options;
using lifering::ring_node;

constexpr int readers_count = 100;
constexpr int writers_count = 100;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int changes_each = 5;
#else
constexpr int changes_each = 10;
#endif

placement_options small_slots() {
  placement_options options = placement_options::slots();
  options.segments = 10;
  return options;
}

// What holds in every state: all answers are from that one state.
bool is_whole(const lifering::ring_view& view) {
  const auto nodes = view.nodes();
  if (nodes.empty()) {
    return view.owner("key") == nullptr;
  }
  for (const char* key : {"user:1", "user:2", "user:3"}) {
    const ring_node* owner = view.owner(key);
    if (owner == nullptr || view.find(owner->name) != owner || !view.owns(owner->name, key)) {
      return false;
    }
    const auto list = view.owners(key, 3);
    if (list.size() != std::min<std::size_t>(3, nodes.size()) || list.front() != owner) {
      return false;
    }
  }
  return true;
}

void run(const placement_options& placement) {
  hash_ring ring{placement};
  ring.add({"stays"});
  std::atomic<int> writing{writers_count};
  std::atomic<int> torn{0};
  std::atomic<int> went_back{0};
  {
    std::vector<std::jthread> threads;
    for (int w = 0; w < writers_count; ++w) {
      threads.emplace_back([&ring, &writing, w] {
        const std::string name = "node-" + std::to_string(w);
        for (int i = 0; i < changes_each; ++i) {
          ring.add({name});
          ring.set_weight(name, *lifering::weight::parse("2"));
          ring.remove(name);
        }
        ring.add({name});
        --writing;
      });
    }
    for (int r = 0; r < readers_count; ++r) {
      threads.emplace_back([&] {
        std::uint64_t last = 0;
        do {
          const auto view = ring.view();
          torn += is_whole(view) ? 0 : 1;
          went_back += view.version() < last ? 1 : 0;
          last = view.version();
          std::this_thread::yield();  // A hundred readers would leave the writers no core.
        } while (writing.load() > 0);
      });
    }
  }
  CHECK(torn == 0);
  CHECK(went_back == 0);
  // Every change was published once, and the outcome is that of the set.
  CHECK(ring.view().version() == 1U + writers_count * (3 * changes_each + 1));
  std::vector<ring_node> expected{{"stays"}};
  for (int w = 0; w < writers_count; ++w) {
    expected.push_back({"node-" + std::to_string(w)});
  }
  hash_ring fresh{placement};
  fresh.assign(expected);
  CHECK(fresh.fingerprint() == ring.fingerprint());
  CHECK(diff(fresh.view(), ring.view()).moved() == 0);
}

}  // namespace

TEST_CASE("a hundred readers beside a hundred writers see whole states only: points",
          "[ring][stress]") {
  placement_options few = placement_options::classic();
  few.vnodes = 20;
  run(few);
}

TEST_CASE("a hundred readers beside a hundred writers see whole states only: segments",
          "[ring][stress]") {
  run(small_slots());
}

TEST_CASE("snapshots are kept and dropped by many threads while the ring changes",
          "[ring][stress]") {
  hash_ring ring{small_slots()};
  std::atomic<bool> stop{false};
  std::vector<std::jthread> keepers;
  for (int k = 0; k < 4; ++k) {
    keepers.emplace_back([&] {
      auto kept = ring.snapshot();
      while (!stop) {
        auto newer = ring.view().keep();
        CHECK(diff(kept, newer).moved() <= std::uint64_t{1} << 32);
        kept = std::move(newer);
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    ring.assign({{"a"}, {"b" + std::to_string(i % 7)}});
  }
  stop = true;
}

TEST_CASE("a forked child may read the ring, change it and end it, whatever threads it left behind",
          "[ring][stress]") {
  auto ring = std::make_unique<hash_ring>();
  ring->assign({{"a"}, {"b"}});
  std::atomic<bool> reading{false};
  std::atomic<bool> stop{false};
  std::jthread reader([&] {
    const auto held = ring->view();
    reading = true;
    reading.notify_one();
    stop.wait(false);
  });
  reading.wait(false);
  auto view = std::make_unique<const lifering::ring_view>(ring->view());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // No test macros here: the parent alone reports.
    ring->remove("a");
    bool fine = ring->owner("key") == "b" && view->nodes().size() == 2;
    view.reset();
    ring->add({"c"});
    fine = fine && ring->size() == 2;
    ring.reset();
    _exit(fine ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(ring->size() == 2);
  stop = true;
  stop.notify_one();
  reader.join();
  view.reset();
}

TEST_CASE("the end of a ring waits for a slot that names its state without a view",
          "[ring][stress]") {
  struct opened : lifering::ring_snapshot {
    explicit opened(lifering::ring_snapshot from) : ring_snapshot(std::move(from)) {}
    const void* state() const { return state_; }
  };
  auto ring = std::make_unique<hash_ring>();
  ring->add({"a"});
  const opened state{ring->snapshot()};
  // As a reader of another ring between its pin and its second look, whose state had this memory.
  std::atomic<bool> pinned{false};
  std::jthread reader([&] {
    auto& slot = lifering::ring_detail::reader_slots::claim();
    slot.store(state.state(), std::memory_order_release);
    pinned = true;
    pinned.notify_one();
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    slot.store(nullptr, std::memory_order_release);
  });
  pinned.wait(false);
  ring.reset();  // Aborts if it takes the slot for a view.
  CHECK_FALSE(lifering::ring_detail::reader_slots::name(state.state()));
}
