#include "base/scratch.hpp"

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "support/catch.hpp"

using lifering::base::scratch;

namespace {

struct one_kind {
  std::string text;
};

struct counted {
  counted() { ++made; }
  ~counted() { --made; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  std::atomic<int> users = 0;
  static inline std::atomic<int> made = 0;
};

}  // namespace

TEST_CASE("What one has given back the next one takes, as it was left", "[base]") {
  const one_kind* first = nullptr;
  {
    const scratch<one_kind> taken;
    taken->text = "left behind";
    first = &*taken;
  }
  const scratch<one_kind> again;
  CHECK(&*again == first);
  CHECK(again->text == "left behind");
}

TEST_CASE("What can be cleared comes cleared, with its storage", "[base]") {
  { scratch<std::vector<int>>()->assign(100, 7); }
  const scratch<std::vector<int>> again;
  CHECK(again->empty());
  CHECK(again->capacity() >= 100);
}

TEST_CASE("What is taken at the same time is never the same", "[base]") {
  constexpr int many = 100;
  std::vector<scratch<counted>> taken(many);
  std::set<const counted*> distinct;
  for (const auto& each : taken)
    distinct.insert(&*each);
  CHECK(distinct.size() == 100);
  CHECK(counted::made == many);
  taken.clear();
  CHECK(counted::made < many);  // Few are kept.
  CHECK(counted::made > 0);
}

TEST_CASE("Each belongs to one thread at a time, and may be given back by another", "[base]") {
  constexpr int rounds = 2'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      std::unique_ptr<scratch<counted>> kept;
      for (int i = 0; i < rounds; ++i) {
        scratch<counted> mine;
        LIFERING_CHECK(++mine->users == 1);
        LIFERING_CHECK(--mine->users == 0);
        if (i % 16 == 0) kept = std::make_unique<scratch<counted>>();
      }
      std::thread([given = std::move(kept)] { LIFERING_CHECK((*given)->users == 0); }).join();
    });
  }
  for (auto& each : threads)
    each.join();
  SUCCEED();
}
