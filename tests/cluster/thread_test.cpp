// Everything at once from many threads: what ThreadSanitizer and the checks of the library watch.
#include <asio/thread_pool.hpp>
#include <thread>

#include "cluster/facade_support.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::cluster;
using lifering::errc;
using lifering::weight;

namespace {

/// What may be said to a caller whose object joins, leaves and stops at the same time.
bool is_expected(std::error_code error) {
  for (const auto code :
       {errc::stopped, errc::busy, errc::canceled, errc::unknown_member, errc::no_seed_answered,
        errc::timed_out, errc::unreachable, errc::name_in_use}) {
    if (error == code) return true;
  }
  return !error;
}

/// Asks for all that can be asked.
bool is_whole(const cluster& member) {
  const auto owner = member.owner("key");
  const auto all = member.members();
  const auto ring = member.ring();
  bool sorted = true;
  for (std::size_t i = 1; i < all.size(); ++i)
    sorted = sorted && all[i - 1].name < all[i].name;
  static_cast<void>(member.owners("key", 3));
  static_cast<void>(member.owns("key"));
  static_cast<void>(member.find("a"));
  static_cast<void>(member.self());
  static_cast<void>(member.graves());
  static_cast<void>(member.agreement());
  static_cast<void>(member.stats());
  return sorted && (!owner || !owner->name.empty()) && ring.size() <= 3;
}

/// Says all that can be said. The first error that was not to be expected.
std::error_code say_all(cluster& member, int round) {
  std::error_code error;
  std::error_code found;
  const auto note = [&] {
    if (!is_expected(error) && !found) found = error;
  };
  member.set_metadata("round " + std::to_string(round), error);
  note();
  member.set_weight(*weight::parse(round % 2 == 0 ? "1" : "2"), error);
  note();
  member.set_service("10.0.0.1:" + std::to_string(round), error);
  note();
  (round % 3 == 0 ? member.drain(error) : member.ready(error));
  note();
  member.set_health(round % 5 != 0, error);
  note();
  member.send("a", "hello", error);
  note();
  if (round % 10 == 0) member.broadcast("hello all", error);
  note();
  if (round % 10 == 5) member.send_reliably("a", std::string(5000, 'x'), error);
  note();
  member.async_forget("nobody", [](std::error_code) {});
  // Waits its turn, so that what is asked for doesn't pile up before those who join.
  member.forget("nobody", error);
  note();
  member.async_send_reliably("a", "hello", [](std::error_code) {});
  return found;
}

constexpr int joins_min = 3;

std::error_code come_and_go(cluster& member, const std::vector<std::string>& seeds, int round,
                            std::atomic<int>& joins) {
  std::error_code error;
  member.join(seeds, error, 5s);
  if (!is_expected(error)) return error;
  if (!error) ++joins;
  // A leave ends the join of another thread, some of which come to their end.
  if (error == errc::busy && (joins < joins_min || round % 8 != 0)) {
    std::this_thread::sleep_for(5ms);
    return {};
  }
  member.leave(error, 500ms);
  return is_expected(error) ? std::error_code() : error;
}

/// Threads that do all of that until it was stopped under their hands, in the midst of its lives.
void storm(cluster& member, const std::vector<std::string>& seeds) {
  std::atomic<bool> over{false};
  std::atomic<bool> whole{true};
  std::atomic<int> joins{0};
  std::mutex mutex;
  std::error_code wrong;
  const auto note = [&](std::error_code error) {
    const std::lock_guard lock(mutex);
    if (error) wrong = error;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!over)
        whole = whole && is_whole(member);
    });
    threads.emplace_back([&] {
      for (int round = 0; !over; ++round)
        note(say_all(member, round));
    });
    threads.emplace_back([&] {
      for (int round = 0; !over; ++round)
        note(come_and_go(member, seeds, round, joins));
    });
  }
  std::this_thread::sleep_for(700ms);
  CHECK(eventually([&] { return joins >= joins_min; }));
  std::thread other([&] { member.stop(); });
  member.stop();
  other.join();
  over = true;
  for (auto& each : threads)
    each.join();
  CHECK(whole);
  INFO(wrong.message());
  CHECK_FALSE(wrong);
}

lifering::options stormy_options(std::string name, std::atomic<int>& inside,
                                 std::atomic<bool>& overlap) {
  auto options = member_options(std::move(name));
  options.health.interval = 10ms;
  options.health.check = [&] {
    if (++inside > 1) overlap = true;
    --inside;
    return true;
  };
  return options;
}

void watch(cluster& member, std::atomic<int>& inside, std::atomic<bool>& overlap) {
  const auto called = [&](const auto&) {
    if (++inside > 1) overlap = true;
    --inside;
  };
  member.on_event(called);
  member.on_message(called);
}

}  // namespace

TEST_CASE("an object of its own threads stands everything at once, and a stop in the midst",
          "[thread]") {
  cluster first(member_options("a"));
  first.on_message([](const lifering::message&) {});
  first.start();
  std::atomic<int> inside{0};
  std::atomic<bool> overlap{false};
  {
    cluster second(stormy_options("b", inside, overlap));
    watch(second, inside, overlap);
    second.start();
    storm(second, seeds_of(first));
  }
  CHECK(inside == 0);
  CHECK_FALSE(overlap);
}

TEST_CASE("an object on a pool of threads stands everything at once, and a stop in the midst",
          "[thread]") {
  asio::thread_pool pool(3);
  std::atomic<int> inside{0};
  std::atomic<bool> overlap{false};
  {
    cluster first(pool.get_executor(), member_options("a"));
    first.on_message([](const lifering::message&) {});
    first.start();
    cluster second(pool.get_executor(), stormy_options("b", inside, overlap));
    watch(second, inside, overlap);
    second.start();
    storm(second, seeds_of(first));
  }
  pool.join();
  CHECK(inside == 0);
  CHECK_FALSE(overlap);
}
