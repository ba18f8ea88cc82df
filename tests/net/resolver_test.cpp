#include "net/resolver.hpp"

#include <signal.h>

#include <asio/error.hpp>
#include <atomic>
#include <condition_variable>
#include <lifering/error.hpp>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/loop.hpp"
#include "net/name_service.hpp"
#include "support/catch.hpp"

namespace lifering::net {
namespace {

using namespace std::chrono_literals;
using test::run_until;

/// A name service that answers from a table, or not before it is told to.
class names {
 public:
  struct answer {
    std::vector<std::string> addresses;
    std::error_code error;
  };

  /// Threads that look up outlive their resolver, but not this.
  ~names() {
    release();
    while (running_ != 0)
      std::this_thread::yield();
  }

  void set(const std::string& host, answer given) { table_[host] = std::move(given); }

  /// Lookups of `host` wait until release().
  void hold(const std::string& host) { held_ = host; }
  void release() {
    const std::lock_guard lock(mutex_);
    is_released_ = true;
    changed_.notify_all();
  }

  void set_service(const std::string& name, std::vector<service_host> hosts) {
    services_[name] = std::move(hosts);
  }

  resolver::lookups lookup() {
    const auto service = [this](const std::string& name, std::vector<service_host>& out) {
      ++asked_;
      out = services_[name];
      return out.empty() ? std::error_code(asio::error::host_not_found) : std::error_code();
    };
    const auto look_up = [this](const std::string& host,
                                std::vector<endpoint>& out) -> std::error_code {
      const auto now = ++running_;
      for (auto most = most_.load(); now > most && !most_.compare_exchange_weak(most, now);) {
      }
      ++asked_;
      if (!held_.empty() && host.starts_with(held_)) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return is_released_; });
      }
      const auto found = table_.find(host);
      std::error_code error = asio::error::host_not_found;
      if (found != table_.end()) {
        error = found->second.error;
        for (const auto& each : found->second.addresses)
          out.push_back(*endpoint::parse(each));
      }
      --running_;
      return error;
    };
    return {look_up, service};
  }

  int asked() const { return asked_; }
  int running() const { return running_; }
  int most() const { return most_; }

 private:
  std::map<std::string, answer> table_;
  std::map<std::string, std::vector<service_host>> services_;
  std::string held_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_released_ = false;
  std::atomic<int> running_{0};
  std::atomic<int> most_{0};
  std::atomic<int> asked_{0};
};

struct result {
  std::string seed;
  std::vector<std::string> addresses;
  std::error_code error;
};

/// A resolver that writes down its answers.
class asker {
 public:
  asker(asio::io_context& context, resolver::lookups look_up,
        address_families families = address_families::both)
      : context_(context),
        pending_(asio::make_strand(context)),
        resolver_(
            asio::make_strand(context), families, pending_,
            [this](const std::string& seed, std::vector<endpoint> addresses,
                   std::error_code error) {
              result each{seed, {}, error};
              for (const auto& address : addresses)
                each.addresses.push_back(address.to_string());
              answers.push_back(std::move(each));
            },
            std::move(look_up)) {}

  ~asker() {
    resolver_.close();
    run_until(context_, [this] { return pending_.count() == 0; });
  }

  void resolve(const std::string& seed, base::duration deadline = 20s) {
    resolver_.resolve(seed, deadline);
  }
  void close() { resolver_.close(); }
  std::size_t pending() const { return pending_.count(); }
  bool has_answers(std::size_t count) {
    return run_until(context_, [&] { return answers.size() >= count; });
  }

  std::vector<result> answers;

 private:
  asio::io_context& context_;
  operations pending_;
  resolver resolver_;
};

TEST_CASE("An address needs no name service and is answered from a later turn") {
  asio::io_context context;
  names service;
  asker asks(context, service.lookup());
  asks.resolve("10.0.0.1:80");
  asks.resolve("[2001:db8::1]");
  CHECK(asks.answers.empty());
  REQUIRE(asks.has_answers(2));
  CHECK(asks.answers[0].seed == "10.0.0.1:80");
  CHECK(asks.answers[0].addresses == std::vector<std::string>{"10.0.0.1:80"});
  CHECK(asks.answers[1].addresses == std::vector<std::string>{"[2001:db8::1]:7946"});
  CHECK(service.asked() == 0);
}

TEST_CASE("What is no seed is answered as such") {
  asio::io_context context;
  names service;
  asker asks(context, service.lookup());
  asks.resolve("host:port");
  REQUIRE(asks.has_answers(1));
  CHECK(asks.answers[0].error == errc::invalid_seed);
}

TEST_CASE("A name gives all its addresses once, of both families, with the seed's port") {
  asio::io_context context;
  names service;
  service.set("many", {{"10.0.0.2", "2001:db8::1", "10.0.0.1", "10.0.0.2"}, {}});
  asker asks(context, service.lookup());
  asks.resolve("many:80");
  REQUIRE(asks.has_answers(1));
  CHECK(asks.answers[0].addresses ==
        std::vector<std::string>{"10.0.0.2:80", "[2001:db8::1]:80", "10.0.0.1:80"});
  CHECK_FALSE(asks.answers[0].error);
}

TEST_CASE("A member of one family is given no addresses of the other") {
  asio::io_context context;
  names service;
  service.set("both", {{"10.0.0.1", "2001:db8::1"}, {}});
  service.set("six", {{"2001:db8::1"}, {}});
  asker asks(context, service.lookup(), address_families::v4);
  asks.resolve("both");
  REQUIRE(asks.has_answers(1));
  CHECK(asks.answers[0].addresses == std::vector<std::string>{"10.0.0.1:7946"});
  asks.resolve("six");
  asks.resolve("[::1]:80");
  REQUIRE(asks.has_answers(3));
  CHECK(asks.answers[1].error == std::errc::address_family_not_supported);
  CHECK(asks.answers[2].error == std::errc::address_family_not_supported);
}

TEST_CASE("Of a name with very many addresses the first are taken, up to the bound") {
  asio::io_context context;
  names service;
  names::answer given;
  for (int i = 0; i < 100; ++i)
    given.addresses.push_back("10.0.0." + std::to_string(i + 1));
  service.set("headless", given);
  asker asks(context, service.lookup());
  asks.resolve("headless");
  REQUIRE(asks.has_answers(1));
  REQUIRE(asks.answers[0].addresses.size() == resolver::addresses_max);
  CHECK(asks.answers[0].addresses.back() == "10.0.0.32:7946");
}

TEST_CASE("A service is the addresses of its hosts, with its ports there, the preferred first") {
  asio::io_context context;
  names service;
  service.set_service("_lifering._udp.shop", {{"b", 7002}, {"a", 7001}, {"none", 7003}});
  service.set("a", {{"10.0.0.1"}, {}});
  service.set("b", {{"10.0.0.2", "2001:db8::2"}, {}});
  asker asks(context, service.lookup());
  asks.resolve("srv:_lifering._udp.shop");
  REQUIRE(asks.has_answers(1));
  CHECK_FALSE(asks.answers[0].error);
  CHECK(asks.answers[0].addresses ==
        std::vector<std::string>{"10.0.0.2:7002", "[2001:db8::2]:7002", "10.0.0.1:7001"});
  asks.resolve("srv:nothing");
  REQUIRE(asks.has_answers(2));
  CHECK(asks.answers[1].error == asio::error::host_not_found);
}

TEST_CASE("A host of a service whose name server is silent holds up none of the others") {
  asio::io_context context;
  names service;
  service.set_service("shop", {{"silent", 7001}, {"a", 7002}, {"b", 7003}});
  service.set("a", {{"10.0.0.1"}, {}});
  service.set("b", {{"10.0.0.2"}, {}});
  service.hold("silent");
  asker asks(context, service.lookup());
  const auto begin = std::chrono::steady_clock::now();
  asks.resolve("srv:shop", 20s);
  REQUIRE(asks.has_answers(1));
  CHECK(std::chrono::steady_clock::now() - begin >= resolver::patience_for_more);
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
  CHECK_FALSE(asks.answers[0].error);
  CHECK(asks.answers[0].addresses == std::vector<std::string>{"10.0.0.1:7002", "10.0.0.2:7003"});
  service.release();
}

TEST_CASE("A service all of whose hosts are silent is answered at its deadline") {
  asio::io_context context;
  names service;
  service.set_service("shop", {{"silent-1", 7001}, {"silent-2", 7002}});
  service.hold("silent");
  asker asks(context, service.lookup());
  asks.resolve("srv:shop", 100ms);
  REQUIRE(asks.has_answers(1));
  CHECK(asks.answers[0].error == errc::timed_out);
  service.release();
  CHECK(run_until(context, [&] { return service.running() == 0; }));
}

TEST_CASE("A name service's error is passed on") {
  asio::io_context context;
  names service;
  service.set("busy", {{}, asio::error::host_not_found_try_again});
  asker asks(context, service.lookup());
  asks.resolve("absent");
  REQUIRE(asks.has_answers(1));
  CHECK(asks.answers[0].error == asio::error::host_not_found);
  asks.resolve("busy");
  REQUIRE(asks.has_answers(2));
  CHECK(asks.answers[1].error == asio::error::host_not_found_try_again);
}

TEST_CASE("Thirty names that never answer don't keep a good one waiting") {
  asio::io_context context;
  names service;
  service.hold("hole");
  service.set("good", {{"10.0.0.1"}, {}});
  asker asks(context, service.lookup());
  for (int i = 0; i < 30; ++i)
    asks.resolve("hole" + std::to_string(i));
  asks.resolve("good");
  CHECK(asks.has_answers(1));
  CHECK(asks.answers[0].seed == "good");
  service.release();
  CHECK(asks.has_answers(31));
  CHECK(run_until(context, [&] { return service.running() == 0; }));
}

TEST_CASE(
    "No more names than the bound are looked up at once, and those that wait have their turn") {
  asio::io_context context;
  names service;
  service.hold("slow");
  constexpr std::size_t many = 2 * resolver::threads_max;
  asker asks(context, service.lookup());
  for (std::size_t i = 0; i < many; ++i)
    asks.resolve("slow" + std::to_string(i));
  REQUIRE(run_until(context,
                    [&] { return service.running() == static_cast<int>(resolver::threads_max); }));
  service.release();
  REQUIRE(asks.has_answers(many));
  CHECK(service.most() == static_cast<int>(resolver::threads_max));
  CHECK(service.asked() == static_cast<int>(many));
  CHECK(run_until(context, [&] { return service.running() == 0; }));
}

TEST_CASE("A name that isn't found in time is answered by its deadline, once") {
  asio::io_context context;
  names service;
  service.hold("hole");
  asker asks(context, service.lookup());
  asks.resolve("hole", 20ms);
  REQUIRE(asks.has_answers(1));
  CHECK(asks.answers[0].error == errc::timed_out);
  service.release();
  REQUIRE(run_until(context, [&] { return service.running() == 0; }));
  context.restart();
  context.poll();
  CHECK(asks.answers.size() == 1);
}

TEST_CASE("Closing leaves nothing pending though a thread still waits for the name service") {
  names service;
  service.hold("hole");
  {
    asio::io_context context;
    asker asks(context, service.lookup());
    asks.resolve("hole");
    asks.resolve("10.0.0.1");
    REQUIRE(run_until(context, [&] { return service.running() == 1; }));
    asks.close();
    context.restart();
    context.run();  // Returns, since nothing is pending.
    CHECK(asks.pending() == 0);
  }
  // The io_context is gone; what the thread finds now must reach nobody.
  service.release();
  asio::io_context another;
  CHECK(run_until(another, [&] { return service.running() == 0; }));
}

TEST_CASE("The system's lookup knows this host") {
  std::vector<endpoint> found;
  REQUIRE_FALSE(name_service().look_up("localhost", found));
  REQUIRE_FALSE(found.empty());
  for (const auto& each : found) {
    CHECK(each.is_loopback());
    CHECK(each.port == 0);
  }
}

TEST_CASE("Lookups run with the application's signals blocked") {
  asio::io_context context;
  std::atomic<bool> is_blocked{false};
  const auto look = [&](const std::string&, std::vector<endpoint>&) -> std::error_code {
    sigset_t mask;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    is_blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1;
    return asio::error::host_not_found;
  };
  asker asks(context, {look, {}});
  asks.resolve("name");
  REQUIRE(asks.has_answers(1));
  CHECK(is_blocked);
  sigset_t mine;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mine);
  CHECK(sigismember(&mine, SIGTERM) == 0);
}

}  // namespace
}  // namespace lifering::net
