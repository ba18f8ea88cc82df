// The publication protocol under real threads, on states that are poisoned instead of freed, whole
// and with its checks taken out. What only the order of memory decides is for tests/model.
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "ring/publication.hpp"
#include "support/catch.hpp"

namespace {

using namespace lifering::ring_detail;

constexpr std::uint64_t poison = 0xdddd'dddd'dddd'ddddU;

/// A state of eight words, all of them its number. Words are atomic so that a read of a poisoned
/// state is a finding of this test and not undefined.
struct canary {
  std::array<std::atomic<std::uint64_t>, 8> words{};
};

/// Gives out canaries; takes them back poisoned, and gives them out again after a while.
class aviary {
 public:
  std::shared_ptr<const canary> make(std::uint64_t number) {
    if (resting_.size() < 16) {
      all_.push_back(std::make_unique<canary>());
      resting_.push_back(all_.back().get());
    }
    canary* bird = resting_.front();
    resting_.pop_front();
    fill(*bird, number);
    ++alive_;
    return {bird, [this](canary* returned) {
              fill(*returned, poison);
              resting_.push_back(returned);
              --alive_;
            }};
  }

  std::size_t alive() const { return alive_; }

 private:
  static void fill(canary& bird, std::uint64_t value) {
    for (auto& word : bird.words) {
      word.store(value, std::memory_order_relaxed);
    }
  }

  std::vector<std::unique_ptr<canary>> all_;
  std::deque<canary*> resting_;
  std::size_t alive_ = 0;
};

/// A number if all words are the same one, not poisoned and never less than an earlier one.
bool is_sound(const canary& bird, std::uint64_t& last) {
  const std::uint64_t number = bird.words[0].load(std::memory_order_relaxed);
  for (int round = 0; round < 4; ++round) {
    for (const auto& word : bird.words) {
      if (word.load(std::memory_order_relaxed) != number) {
        return false;
      }
    }
  }
  if (number == poison || number < last) {
    return false;
  }
  last = number;
  return true;
}

struct outcome {
  std::uint64_t reads = 0;
  std::uint64_t unsound = 0;
  std::size_t retired_most = 0;
};

/// Three readers beside a writer that publishes as fast as it can, until so many publications or
/// the first unsound read.
template <class Rules>
outcome run(std::uint64_t publications) {
  aviary birds;
  outcome result;
  {
    publication<canary, Rules> published{birds.make(0)};
    std::atomic<std::uint64_t> reads{0};
    std::atomic<std::uint64_t> unsound{0};
    std::atomic<bool> stop{false};
    std::vector<std::jthread> readers;
    for (int r = 0; r < 3; ++r) {
      readers.emplace_back([&] {
        std::uint64_t last = 0;
        std::uint64_t count = 0;
        while (!stop.load(std::memory_order_relaxed)) {
          const auto pin = published.acquire();
          if (!is_sound(*pin.state, last)) {
            unsound.fetch_add(1, std::memory_order_relaxed);
          }
          pin.slot->store(nullptr, std::memory_order_release);
          ++count;
        }
        reads += count;
      });
    }
    for (std::uint64_t n = 1; n <= publications && unsound.load(std::memory_order_relaxed) == 0;
         ++n) {
      published.publish(birds.make(n));
      result.retired_most = std::max(result.retired_most, published.retired());
    }
    stop = true;
    readers.clear();
    result.reads = reads;
    result.unsound = unsound;
  }
  CHECK(birds.alive() == 0);
  return result;
}

/// Lets the writer in between a reader's load and its pin, now and then: the moment that the second
/// look is for, and otherwise a few instructions long.
struct with_delays : publication_rules {
  static void before_pin() noexcept {
    thread_local unsigned count = 0;
    if (++count % 16 == 0) {
      std::this_thread::yield();
    }
  }
};

struct without_second_look : with_delays {
  static constexpr bool rereads = false;
};

struct without_scan : publication_rules {
  static constexpr bool scans = false;
};

/// As where membarrier is missing: a full fence on both sides.
struct with_full_fences : publication_rules {
  static void reader_fence() noexcept { asymmetric_fence::full(); }
  static void writer_fence() noexcept { asymmetric_fence::full(); }
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t publications = 20'000;
#else
constexpr std::uint64_t publications = 200'000;
#endif

}  // namespace

TEST_CASE("no reader ever sees a freed state", "[ring][stress]") {
  const outcome seen = run<publication_rules>(publications);
  CHECK(seen.unsound == 0);
  CHECK(seen.reads > 0);
  // Three readers pin three states at most.
  CHECK(seen.retired_most <= 3);
}

TEST_CASE("no reader sees a freed state, however late it pins", "[ring][stress]") {
  const outcome seen = run<with_delays>(publications);
  CHECK(seen.unsound == 0);
  CHECK(seen.retired_most <= 3);
}

TEST_CASE("no reader sees a freed state with full fences in place of membarrier",
          "[ring][stress]") {
  const outcome seen = run<with_full_fences>(publications);
  CHECK(seen.unsound == 0);
  CHECK(seen.retired_most <= 3);
}

TEST_CASE("without the reader's second look, one does", "[ring][stress]") {
  CHECK(run<without_second_look>(100'000'000).unsound > 0);
}

TEST_CASE("without the writer's look at the slots, one does", "[ring][stress]") {
  CHECK(run<without_scan>(100'000'000).unsound > 0);
}

TEST_CASE("a reader that sleeps for ever pins one state and holds up nobody", "[ring][stress]") {
  aviary birds;
  publication<canary> published{birds.make(0)};
  const auto pin = published.acquire();
  for (std::uint64_t n = 1; n <= 10'000; ++n) {
    published.publish(birds.make(n));
    REQUIRE(published.retired() == 1);
    REQUIRE(birds.alive() == 2);
  }
  std::uint64_t last = 0;
  CHECK(is_sound(*pin.state, last));
  CHECK(last == 0);
  CHECK(published.is_pinned());
  pin.slot->store(nullptr, std::memory_order_release);
  CHECK(!published.is_pinned());
  CHECK(birds.alive() == 1);
}

TEST_CASE("threads that come and go leave no slots behind", "[ring][stress]") {
  aviary birds;
  publication<canary> published{birds.make(0)};
  const auto read_once = [&published] {
    const auto pin = published.acquire();
    std::uint64_t last = 0;
    CHECK(is_sound(*pin.state, last));
    pin.slot->store(nullptr, std::memory_order_release);
  };
  std::thread{read_once}.join();
  const std::size_t blocks = reader_slots::blocks();
  for (int i = 0; i < 300; ++i) {
    std::thread{read_once}.join();
  }
  CHECK(reader_slots::blocks() == blocks);
  CHECK(!published.is_pinned());
}

TEST_CASE("a thread that ends while its view lives on elsewhere leaves the view pinned",
          "[ring][stress]") {
  aviary birds;
  publication<canary> published{birds.make(0)};
  publication<canary>::pin pin{};
  std::thread{[&] { pin = published.acquire(); }}.join();
  published.publish(birds.make(1));
  // The slot isn't given to another thread as long as it is full.
  std::thread{[&] {
    const auto other = published.acquire();
    CHECK(other.slot != pin.slot);
    other.slot->store(nullptr, std::memory_order_release);
  }}.join();
  std::uint64_t last = 0;
  CHECK(is_sound(*pin.state, last));
  CHECK(published.retired() == 1);
  pin.slot->store(nullptr, std::memory_order_release);
  CHECK(!published.is_pinned());
}
