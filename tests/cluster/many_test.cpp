// Hundreds of members in one process, on one thread: how soon all see all, and nothing but that.
#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <iostream>
#include <lifering/lifering.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/eventually.hpp"

using namespace lifering_test;
using namespace std::chrono_literals;

namespace {

// Three hundred take two to five seconds, by the machine.
constexpr std::size_t count = 300;
constexpr std::chrono::duration<double> bound = 15s;
// What else the machine does may spoil one of them; what is broken spoils all.
constexpr int tries = 3;

std::shared_ptr<lifering::keyring> one_key() {
  auto keys = std::make_shared<lifering::keyring>();
  std::array<char, lifering::key_text_size> text{};
  lifering::generate_key(text);
  lifering::throw_if(keys->add({text.data(), text.size()}));
  lifering::throw_if(keys->set_mode(lifering::seal_mode::require));
  return keys;
}

/// Members on a thread, and what they were told, counted.
class crowd {
 public:
  explicit crowd(const std::shared_ptr<lifering::keyring>& keys) {
    for (std::size_t i = 0; i < count; ++i) {
      auto options = lifering::options::lan();
      options.name = "n" + std::to_string(i);
      options.cluster = "test";
      options.bind = "127.0.0.1:0";
      options.level = lifering::log_level::off;
      options.limits.streams_per_source = options.limits.streams;  // All come from one address.
      options.keys = keys;
      members_.push_back(std::make_unique<lifering::cluster>(context_, options));
      members_.back()->on_event([this](const lifering::event& event) {
        if (const auto* change = std::get_if<lifering::member_event>(&event)) note(change->kind);
      });
      members_.back()->start();
    }
  }

  ~crowd() {
    for (auto& each : members_)
      each->stop();
    work_.reset();
    context_.stop();
    thread_.join();
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  void join() {
    const std::vector<std::string> seeds{members_[0]->local_address().to_string()};
    for (std::size_t i = 1; i < count; ++i)
      members_[i]->async_join(seeds, 60s, [](std::error_code, std::size_t) {});
  }

  bool all_see_all() const { return joined_ >= count * (count - 1); }
  std::size_t joined() const { return joined_; }
  std::size_t others() const { return others_; }

 private:
  void note(lifering::event_kind kind) {
    using lifering::event_kind;
    if (kind == event_kind::joined) ++joined_;
    // Doubts, which a busy machine may raise, move nothing.
    if (kind == event_kind::failed || kind == event_kind::left || kind == event_kind::updated)
      ++others_;
  }

  std::atomic<std::size_t> joined_{0};
  std::atomic<std::size_t> others_{0};
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = make_work_guard(context_);
  std::thread thread_{[this] { context_.run(); }};
  std::vector<std::unique_ptr<lifering::cluster>> members_;
};

}  // namespace

TEST_CASE("hundreds that join one seed at once all see each other in seconds", "[many]") {
  const bool sealed = GENERATE(false, true);
  CAPTURE(sealed);
  auto took = bound;
  for (int i = 0; i < tries && took >= bound; ++i) {
    crowd all(sealed ? one_key() : nullptr);
    const auto begin = std::chrono::steady_clock::now();
    all.join();
    CHECK(eventually([&] { return all.all_see_all(); }));
    took = std::chrono::steady_clock::now() - begin;
    std::cout << count << (sealed ? " sealed" : "") << " members saw each other after "
              << took.count() << " s\n";
    std::this_thread::sleep_for(3s);  // A failure that was found in the crush would show by now.
    CHECK(all.joined() == count * (count - 1));
    CHECK(all.others() == 0);
  }
  CHECK(took < bound);
}
