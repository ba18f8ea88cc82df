// Sealed members on a network that loses, repeats and overtakes, with somebody in it who plays what
// he has heard again to anybody, as from anywhere. Nothing of that may show.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "cluster/inhabitant.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::endpoint;
using lifering::event_kind;

namespace {

constexpr std::uint8_t members = 5;
const endpoint nowhere = place(99);

/// Carries the datagrams of a memory_network, in its way.
class weather {
 public:
  weather(memory_network& network, unsigned seed) : network_(network), random_(seed) {
    network.divert = [this](const memory_network::datagram& sent) { carry(sent); };
  }

  /// Bytes that were said in the name of nobody, and that nobody was answered.
  std::uint64_t as_nobody() const { return as_nobody_; }
  std::uint64_t to_nobody() const { return to_nobody_; }

 private:
  void carry(const memory_network::datagram& sent) {
    std::vector<memory_network::datagram> arriving;
    {
      const std::lock_guard lock(mutex_);
      if (sent.to == nowhere) to_nobody_ += sent.bytes.size();
      heard_.push_back(sent);
      if (!one_in(8)) (one_in(6) ? late_ : arriving).push_back(sent);
      if (one_in(8)) late_.push_back(sent);
      while (!late_.empty() && one_in(3))
        arriving.push_back(take(late_));
      while (one_in(3))
        arriving.push_back(played_again());
    }
    for (const auto& each : arriving)
      network_.inject(each.from, each.to, each.bytes);
  }

  memory_network::datagram played_again() {
    // More often of what was said just now, which is good for longer.
    const auto back = one_in(2) ? std::min<std::size_t>(heard_.size(), 20) : heard_.size();
    auto made = heard_[heard_.size() - 1 - random_() % back];
    if (one_in(2)) made.to = anybody();
    if (one_in(4)) made.from = anybody();
    if (one_in(4)) made.from = nowhere;
    if (made.from == nowhere) as_nobody_ += made.bytes.size();
    return made;
  }

  memory_network::datagram take(std::vector<memory_network::datagram>& from) {
    const auto which = from.begin() + static_cast<std::ptrdiff_t>(random_() % from.size());
    auto taken = std::move(*which);
    from.erase(which);
    return taken;
  }

  endpoint anybody() { return place(static_cast<std::uint8_t>(1 + random_() % members)); }
  bool one_in(unsigned times) { return random_() % times == 0; }

  memory_network& network_;
  std::mutex mutex_;
  std::mt19937 random_;
  std::vector<memory_network::datagram> heard_;
  std::vector<memory_network::datagram> late_;
  std::uint64_t as_nobody_ = 0;
  std::uint64_t to_nobody_ = 0;
};

/// Names from one byte to as many as there may be.
std::string name_of(std::uint8_t number) {
  const std::size_t sizes[] = {1, 20, 120, 254, 255};
  return std::string(sizes[number - 1], static_cast<char>('a' + number));
}

struct dweller : inhabitant {
  dweller(const std::shared_ptr<memory_network>& network, std::uint8_t number,
          const std::shared_ptr<lifering::keyring>& keys)
      : inhabitant([&] {
          auto options = options_of(network, number, keys);
          options.name = name_of(number);
          return options;
        }()) {}

  bool join() {
    std::error_code error;
    member->join({place(1).to_string(), place(2).to_string()}, error);
    return !error;
  }

  /// How often what was heard most often was.
  std::ptrdiff_t most_times_heard() {
    const std::lock_guard lock(mutex);
    std::ptrdiff_t most = 0;
    for (const auto& each : messages)
      most = std::max(most, std::count(messages.begin(), messages.end(), each));
    return most;
  }
};

using dwellers = std::vector<std::unique_ptr<dweller>>;

void rotate(lifering::keyring& keys) {
  std::array<char, lifering::key_text_size> text{};
  lifering::generate_key(text);
  REQUIRE_FALSE(keys.add({text.data(), text.size()}));
  REQUIRE_FALSE(keys.use(keys.ids().back()));
}

void talk(dwellers& all, int round) {
  for (auto& each : all) {
    std::error_code ignored;
    const auto text = each->member->self().name.substr(0, 1) + std::to_string(round);
    each->member->broadcast("broadcast " + text, ignored);
    for (std::uint8_t to = 1; to <= members; ++to) {
      each->member->send(name_of(to), "direct " + text, ignored);
      each->member->async_send_reliably(name_of(to), "reliable " + text, [](std::error_code) {});
    }
  }
}

}  // namespace

TEST_CASE("in any weather sealed members find each other, and hear nothing twice", "[replay]") {
  const char* more = std::getenv("LIFERING_SEEDS");
  const unsigned seeds = more != nullptr ? static_cast<unsigned>(std::atoi(more)) : 2;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    const auto keys = one_key();
    const auto network = std::make_shared<memory_network>();
    weather around(*network, seed);
    dwellers all;
    for (std::uint8_t number = 1; number <= members; ++number)
      all.push_back(std::make_unique<dweller>(network, number, keys));
    for (auto& each : all)
      CHECK((each == all.front() || each->join()));
    for (auto& each : all)
      CHECK(each->member->wait_for(members, patience));

    int round = 0;
    for (; round < 5; ++round)
      talk(all, round);
    rotate(*keys);
    for (; round < 10; ++round)
      talk(all, round);
    // One of them ends without a word and begins again, where it was.
    all[2].reset();
    all[2] = std::make_unique<dweller>(network, 3, keys);
    CHECK(all[2]->join());
    CHECK(all[2]->member->wait_for(members, patience));
    for (; round < 15; ++round)
      talk(all, round);

    const auto are_told = [&] {
      return std::all_of(all.begin(), all.end(), [](const auto& each) {
        const std::lock_guard lock(each->mutex);
        const auto heard = [&](const char* kind) {
          return std::any_of(each->messages.begin(), each->messages.end(), [&](const auto& text) {
            return text.starts_with(kind) && text.ends_with("14");
          });
        };
        return heard("reliable") && heard("broadcast");
      });
    };
    CHECK(eventually(are_told));
    const auto probes = stat(*all[0]->member, "probes");
    REQUIRE(eventually([&] { return stat(*all[0]->member, "probes") > probes + 15; }));
    for (auto& each : all) {
      INFO(each->member->self().name.substr(0, 1));
      CHECK(each->most_times_heard() == 1);
      CHECK(eventually([&] { return each->member->members().size() == members; }));
      for (const auto& event : each->events.all()) {
        const auto* change = std::get_if<lifering::member_event>(&event);
        if (change == nullptr || change->subject.name == name_of(3)) continue;
        CHECK(change->kind != event_kind::failed);
        CHECK(change->kind != event_kind::superseded);
      }
    }
    all.clear();
    // Whose address anybody can write on a packet gets no more than that.
    CHECK(around.as_nobody() > 10'000);
    CHECK(around.to_nobody() <= around.as_nobody());
  }
}
