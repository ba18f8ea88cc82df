// For how long a member holds up the loop that the application gave it. The member runs on an
// io_context of this thread, and each turn of that loop is timed by the thread's processor clock,
// so that neither waiting nor other programs count.
//
//     bench_blocking [-n 1000] [-rounds 50]
//
// A line for each kind of work: how many turns there were, and in microseconds the median, the
// 999th in a thousand, and the longest. The bound is a millisecond.
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <lifering/lifering.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "net/driver.hpp"
#include "swim/record.hpp"

namespace {

using namespace std::chrono_literals;
namespace swim = lifering::swim;
using clock_type = std::chrono::steady_clock;

constexpr auto patience = 60s;

std::int64_t thread_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The application's loop.
class loop {
 public:
  asio::io_context context;

  /// Begins to count turns as of another kind of work.
  void begin(std::string kind) {
    report();
    kind_ = std::move(kind);
  }

  /// Runs until it is so. False when that takes too long.
  template <class Condition>
  bool run_until(Condition is_so) {
    const auto limit = clock_type::now() + patience;
    while (!is_so()) {
      if (clock_type::now() > limit) return false;
      const auto before = thread_nanoseconds();
      context.restart();
      if (context.run_one_for(10ms) > 0) turns_.push_back(thread_nanoseconds() - before);
    }
    return true;
  }

  void run_for(std::chrono::milliseconds time) {
    const auto end = clock_type::now() + time;
    run_until([&] { return clock_type::now() >= end; });
  }

  /// Something that the application calls on its loop.
  template <class Call>
  void call(Call made) {
    const auto before = thread_nanoseconds();
    made();
    turns_.push_back(thread_nanoseconds() - before);
  }

  void report() {
    if (!kind_.empty() && !turns_.empty()) {
      std::sort(turns_.begin(), turns_.end());
      const auto at = [&](double share) {
        const auto last = static_cast<double>(turns_.size() - 1);
        return static_cast<double>(turns_[static_cast<std::size_t>(share * last)]) / 1000;
      };
      std::printf("%-44s %8zu turns, us: median %6.1f  p99.9 %8.1f  longest %8.1f%s\n",
                  kind_.c_str(), turns_.size(), at(0.5), at(0.999), at(1),
                  at(1) > 1000 ? "  OVER" : "");
      std::fflush(stdout);
    }
    turns_.clear();
  }

 private:
  std::string kind_;
  std::vector<std::int64_t> turns_;
};

/// A member that knows a large cluster, of which only itself exists; on a thread of its own.
class puppet {
 public:
  puppet(std::size_t members, const lifering::options& like) {
    lifering::net::driver_options options;
    options.cluster = like.cluster;
    options.bind = *lifering::endpoint::parse("127.0.0.1:0");
    options.self.name = "puppet";
    options.seed = 1;
    options.protocol.placement = like.placement.id();
    // It is to answer, not to find out.
    options.protocol.timing.probe_interval = 1min;
    options.protocol.timing.probe_timeout = 30s;
    driver_ = std::make_shared<lifering::net::driver>(context_.get_executor(), std::move(options),
                                                      [](std::span<const swim::effect>) {});
    LIFERING_CHECK(!driver_->open());
    std::vector<swim::record_ptr> all;
    for (std::size_t i = 1; i < members; ++i) {
      auto made = std::make_shared<swim::record>();
      made->name = "member-" + std::to_string(i);
      made->epoch = swim::make_epoch(1, i);
      made->incarnation = 1;
      const auto low = static_cast<std::uint8_t>(i % 250 + 1);
      made->address = lifering::endpoint::v4({127, 1, static_cast<std::uint8_t>(i / 250), low}, 9);
      made->service = made->address.to_string();
      made->metadata = std::string(64, 'm');
      swim::hash_metadata(*made);
      all.push_back(std::move(made));
    }
    const auto now = clock_type::now().time_since_epoch();
    driver_->protocol().adopt_view(lifering::base::time_point(now), all);
    asio::post(driver_->get_strand(), [this] { driver_->start(); });
    thread_ = std::thread([this] { context_.run(); });
  }

  ~puppet() {
    asio::post(driver_->get_strand(), [this] { driver_->stop({}); });
    work_.reset();
    thread_.join();
  }

  puppet(const puppet&) = delete;
  puppet& operator=(const puppet&) = delete;

  std::string address() const { return driver_->local_address().to_string(); }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::shared_ptr<lifering::net::driver> driver_;
  std::thread thread_;
};

lifering::options options_of(std::string name) {
  auto options = lifering::options::lan();
  options.name = std::move(name);
  options.cluster = "bench";
  options.bind = "127.0.0.1:0";
  options.level = lifering::log_level::off;
  options.metadata = "none";
  return options;
}

std::string new_key() {
  std::array<char, lifering::key_text_size> text{};
  lifering::generate_key(text);
  return {text.data(), text.size()};
}

/// Whatever its parts do in a cluster of that size.
void measure_large(loop& app, std::size_t members, unsigned rounds) {
  auto options = options_of("subject");
  const puppet peer(members, options);
  lifering::cluster subject(app.context, options);
  std::size_t events = 0;
  subject.on_event([&](const lifering::event&) { ++events; });
  subject.start();
  const std::string size = std::to_string(members);

  app.begin("join, merging " + size + " members");
  bool joined = false;
  subject.async_join({peer.address()}, [&](std::error_code error, std::size_t) {
    LIFERING_CHECK(!error);
    joined = true;
  });
  LIFERING_CHECK(
      app.run_until([&] { return joined && subject.ring().size() > members && events > members; }));

  app.begin("others' joins, who are sent " + size + " members");
  for (unsigned i = 0; i < rounds / 10 + 1; ++i) {
    auto visit = std::async([&] {
      lifering::cluster visitor(options_of("visitor-" + std::to_string(i)));
      visitor.start();
      visitor.join({subject.local_address().to_string()});
    });
    LIFERING_CHECK(app.run_until([&] { return visit.wait_for(0s) == std::future_status::ready; }));
    visit.get();
  }

  app.begin("rings of " + size + " members, by own weight");
  for (unsigned i = 0; i < rounds; ++i) {
    const auto version = subject.ring().version();
    const auto weight = lifering::weight::parse(i % 2 == 0 ? "1.5" : "1");
    app.call([&] { subject.set_weight(*weight); });
    LIFERING_CHECK(app.run_until([&] { return subject.ring().version() > version; }));
  }

  app.begin("failures in " + size + " members");
  app.run_for(10s);

  app.begin("stop, with a ring under way");
  app.call([&] { subject.set_weight(*lifering::weight::parse("2")); });
  app.call([&] { subject.stop(); });
  app.run_for(200ms);
}

/// What happens with few members, real ones.
void measure_small(loop& app, unsigned rounds) {
  const auto keys = std::make_shared<lifering::keyring>();
  lifering::throw_if(keys->add(new_key()));
  lifering::throw_if(keys->set_mode(lifering::seal_mode::require));
  const auto sealed = [&](const std::string& name) {
    auto options = options_of(name);
    options.protocol = lifering::options::local().protocol;
    options.keys = keys;
    return options;
  };
  lifering::cluster subject(app.context, sealed("subject"));
  app.begin("start, the call itself");
  app.call([&] { subject.start(); });
  const std::vector<std::string> seeds{subject.local_address().to_string()};
  lifering::cluster other(sealed("other"));
  other.start();

  app.begin("joins and leaves");
  auto first = std::async([&] { other.join(seeds); });
  const auto is_ready = [](const std::future<void>& of) {
    return of.wait_for(0s) == std::future_status::ready;
  };
  LIFERING_CHECK(app.run_until([&] { return is_ready(first); }));
  first.get();
  for (unsigned i = 0; i < rounds; ++i) {
    auto visit = std::async([&] {
      lifering::cluster visitor(sealed("visitor"));
      visitor.start();
      visitor.join(seeds);
      visitor.leave();
    });
    LIFERING_CHECK(app.run_until([&] { return is_ready(visit); }));
    visit.get();
  }

  app.begin("own metadata of 16 KiB, pulled by another");
  for (unsigned i = 0; i < rounds; ++i) {
    const std::string metadata(16384, static_cast<char>('a' + i % 26));
    app.call([&] { subject.set_metadata(metadata); });
    LIFERING_CHECK(app.run_until([&] { return other.find("subject")->metadata == metadata; }));
  }

  app.begin("another's metadata of 16 KiB, pulled by us");
  for (unsigned i = 0; i < rounds; ++i) {
    const std::string metadata(16384, static_cast<char>('a' + i % 26));
    other.set_metadata(metadata);
    LIFERING_CHECK(app.run_until([&] { return subject.find("other")->metadata == metadata; }));
  }

  app.begin("rotation of keys");
  std::string old = keys->ids().front();
  for (unsigned i = 0; i < rounds; ++i) {
    app.call([&] { lifering::throw_if(keys->add(new_key())); });
    const auto fresh = keys->ids().back();
    app.call([&] { lifering::throw_if(keys->use(fresh)); });
    app.call([&] { lifering::throw_if(keys->remove(old)); });
    old = fresh;
    app.run_for(20ms);
  }

  app.begin("idle, sealed");
  app.run_for(2s);

  app.begin("stop of few");
  other.stop();
  subject.stop();
  app.run_for(200ms);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t members = 1000;
  unsigned rounds = 50;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    const std::string_view value = argv[i + 1];
    const auto read = [&](auto& into) {
      std::from_chars(value.data(), value.data() + value.size(), into);
    };
    if (word == "-n") read(members);
    if (word == "-rounds") read(rounds);
  }
  loop app;
  measure_small(app, rounds);
  measure_large(app, members, rounds);
  app.report();
}
