// Messages between applications, on loopback sockets.
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/use_future.hpp>
#include <future>
#include <latch>
#include <set>

#include "cluster/facade_support.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::cluster;
using lifering::errc;
using lifering::message;
using lifering::message_kind;

namespace {

/// Keeps all messages, and lets a test wait for them.
class mailbox {
 public:
  void attach(cluster& to) {
    to.on_message([this](const message& heard) {
      const std::lock_guard lock(mutex_);
      all_.push_back(heard);
      changed_.notify_all();
    });
  }

  /// The messages, once there are `count`; throws if they don't come.
  std::vector<message> await(std::size_t count) {
    std::unique_lock lock(mutex_);
    const auto there = [&] { return all_.size() >= count; };
    if (!changed_.wait_for(lock, patience, there)) throw std::runtime_error("a message is missing");
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<message> all_;
};

/// Members that see each other.
struct company {
  explicit company(int count) {
    for (int i = 0; i < count; ++i) {
      all.push_back(std::make_unique<cluster>(member_options("n" + std::to_string(i))));
      boxes.push_back(std::make_unique<mailbox>());
      boxes.back()->attach(*all.back());
      all.back()->start();
      if (i > 0) all.back()->join(seeds_of(*all.front()));
    }
    for (auto& each : all)
      each->wait_for(all.size(), patience);
  }

  // The members go first: their handlers use the boxes.
  std::vector<std::unique_ptr<mailbox>> boxes;
  std::vector<std::unique_ptr<cluster>> all;
};

}  // namespace

TEST_CASE("each way brings the bytes, the sender's name and the way", "[message]") {
  company of(3);
  const std::string bytes("\0\xff\n\"", 4);
  of.all[1]->send("n0", bytes);
  auto heard = of.boxes[0]->await(1);
  CHECK(heard[0].from == "n1");
  CHECK(heard[0].kind == message_kind::direct);
  CHECK(heard[0].payload == bytes);

  of.all[1]->send_reliably("n0", bytes + bytes);
  heard = of.boxes[0]->await(2);
  CHECK(heard[1].from == "n1");
  CHECK(heard[1].kind == message_kind::reliable);
  CHECK(heard[1].payload == bytes + bytes);

  of.all[1]->broadcast("to all");
  for (const std::size_t each : {std::size_t{0}, std::size_t{2}}) {
    heard = of.boxes[each]->await(each == 0 ? 3 : 1);
    CHECK(heard.back().from == "n1");
    CHECK(heard.back().kind == message_kind::broadcast);
    CHECK(heard.back().payload == "to all");
  }
  CHECK(of.boxes[1]->await(0).empty());  // nothing for oneself
}

TEST_CASE("many broadcasts arrive once each, in the order of each sender", "[message]") {
  company of(4);
  for (int i = 0; i < 20; ++i) {
    of.all[1]->broadcast("a" + std::to_string(i));
    of.all[2]->broadcast("b" + std::to_string(i));
  }
  for (const std::size_t each : {std::size_t{0}, std::size_t{3}}) {
    std::multiset<std::string> payloads;
    for (const auto& heard : of.boxes[each]->await(40))
      payloads.insert(heard.payload);
    CHECK(payloads.size() == 40);
    CHECK(std::set<std::string>(payloads.begin(), payloads.end()).size() == 40);
  }
}

TEST_CASE("a message of each way's limit arrives, and one byte more is refused in words",
          "[message]") {
  company of(2);
  auto& sender = *of.all[1];
  const auto limit_of = [&](auto&& attempt) {
    try {
      attempt(std::string(2 << 20, 'x'));
    } catch (const std::system_error& error) {
      CHECK(error.code() == errc::message_too_large);
      const std::string text = error.what();
      return static_cast<std::size_t>(std::stoul(text.substr(text.find("at most ") + 8)));
    }
    return std::size_t{0};
  };
  const auto direct = limit_of([&](auto bytes) { sender.send("n0", std::move(bytes)); });
  const auto all = limit_of([&](auto bytes) { sender.broadcast(std::move(bytes)); });
  const auto stream = limit_of([&](auto bytes) { sender.send_reliably("n0", std::move(bytes)); });
  CHECK(direct > 1200);
  CHECK(all > 900);
  CHECK(stream == std::size_t{1} << 20);

  std::error_code error;
  sender.send("n0", std::string(direct, 'd'), error);
  CHECK_FALSE(error);
  CHECK(of.boxes[0]->await(1).back().payload == std::string(direct, 'd'));
  sender.send("n0", std::string(direct + 1, 'd'), error);
  CHECK(error == errc::message_too_large);
  sender.broadcast(std::string(all, 'b'), error);
  CHECK_FALSE(error);
  CHECK(of.boxes[0]->await(2).back().payload == std::string(all, 'b'));
  sender.broadcast(std::string(all + 1, 'b'), error);
  CHECK(error == errc::message_too_large);
  sender.send_reliably("n0", std::string(stream, 's'), error);
  CHECK_FALSE(error);
  CHECK(of.boxes[0]->await(3).back().payload == std::string(stream, 's'));
}

TEST_CASE("a message to nobody, to oneself or out of turn is refused and goes nowhere",
          "[message]") {
  cluster alone(member_options("a"));
  std::error_code error;
  const auto all_refused_with = [&](errc code) {
    alone.send("b", "x", error);
    CHECK(error == code);
    alone.send_reliably("b", "x", error);
    CHECK(error == code);
    CHECK_THROWS_AS(alone.async_send_reliably("b", "x", asio::use_future).get(), std::system_error);
  };
  all_refused_with(errc::not_started);
  alone.broadcast("x", error);
  CHECK(error == errc::not_started);
  alone.start();
  all_refused_with(errc::unknown_member);
  alone.send("a", "x", error);
  CHECK(error == errc::unknown_member);
  alone.broadcast("nobody hears it", error);
  CHECK_FALSE(error);
  alone.leave();
  all_refused_with(errc::stopped);
  alone.broadcast("x", error);
  CHECK(error == errc::stopped);
  alone.stop();
  all_refused_with(errc::stopped);
}

TEST_CASE("a reliable message is awaited by any token", "[message]") {
  company of(2);
  of.all[1]->async_send_reliably("n0", "future", asio::use_future).get();
  CHECK(of.boxes[0]->await(1).back().payload == "future");
  std::promise<std::error_code> told;
  of.all[1]->async_send_reliably("n0", "callback",
                                 [&](std::error_code error) { told.set_value(error); });
  CHECK_FALSE(told.get_future().get());
  CHECK(of.boxes[0]->await(2).back().payload == "callback");
}

TEST_CASE("a member that died takes no reliable message, and its sender is told", "[message]") {
  company of(2);
  of.all[0]->stop();
  std::error_code error;
  of.all[1]->send_reliably("n0", "x", error);
  CHECK((error == errc::unreachable || error == errc::unknown_member));
}

TEST_CASE("a reliable message may be given up", "[message]") {
  cluster first(member_options("a"));
  first.start();
  cluster second(member_options("b"));
  second.start();
  second.join(seeds_of(first));
  REQUIRE(first.wait_for(2, patience));
  asio::io_context own;
  asio::cancellation_signal signal;
  std::optional<std::error_code> result;
  first.async_send_reliably(
      "b", std::string(1 << 20, 'x'),
      asio::bind_cancellation_slot(
          signal.slot(), asio::bind_executor(own, [&](std::error_code error) { result = error; })));
  signal.emit(asio::cancellation_type::terminal);
  own.run();
  REQUIRE(result.has_value());
  // Nobody takes messages at the other end: had the refusal been faster, that were the answer.
  CHECK((*result == errc::canceled || *result == errc::busy));
}

TEST_CASE("behind a stuck handler reliable messages are refused, others dropped, all counted",
          "[message]") {
  std::latch release(1);
  std::atomic<int> delivered{0};  // Outlives the cluster, which may still deliver.
  auto options = member_options("slow");
  options.limits.message_queue = 64 << 10;
  cluster slow(options);
  slow.on_message([&](const message&) {
    release.wait();
    ++delivered;
  });
  slow.start();
  cluster sender(member_options("sender"));
  sender.start();
  sender.join(seeds_of(slow));
  REQUIRE(slow.wait_for(2, patience));
  // The first one is in the handler, the next ones fill the queue.
  const std::string half(30 << 10, 'x');
  sender.send_reliably("slow", half);
  REQUIRE(eventually([&] { return stat(slow, "messages_delivered") == 1; }));
  sender.send_reliably("slow", half);
  sender.send_reliably("slow", half);
  std::error_code error;
  sender.send_reliably("slow", half, error);
  CHECK(error == errc::busy);
  CHECK_THROWS_WITH(sender.send_reliably("slow", half),
                    Catch::Matchers::ContainsSubstring("behind"));
  CHECK(eventually([&] {
    sender.send("slow", std::string(1000, 'y'));
    return stat(slow, "messages_dropped") > 0;
  }));
  CHECK(stat(slow, "messages_refused") == 2);
  CHECK(delivered == 0);
  release.count_down();
  CHECK(eventually([&] { return stat(slow, "message_bytes_queued") == 0; }));
  sender.send_reliably("slow", half);
  CHECK(eventually([&] { return delivered >= 4; }));
}

TEST_CASE("without a message handler reliable messages are refused", "[message]") {
  cluster deaf(member_options("deaf"));
  deaf.start();
  cluster sender(member_options("sender"));
  sender.start();
  sender.join(seeds_of(deaf));
  std::error_code error;
  sender.send_reliably("deaf", "x", error);
  CHECK(error == errc::busy);
}

TEST_CASE("a message may be answered as soon as it is heard", "[message]") {
  cluster first(member_options("a"));
  std::atomic<int> refused{0};
  first.on_message([&](const message& heard) {
    std::error_code error;
    first.send(heard.from, "answer to " + heard.payload, error);
    if (error) ++refused;
  });
  first.start();
  cluster second(member_options("b"));
  mailbox box;
  box.attach(second);
  second.start();
  second.join(seeds_of(first));
  second.send_reliably("a", "question");
  CHECK(box.await(1).back().payload == "answer to question");
  CHECK(refused == 0);
}

TEST_CASE("stop completes what was being sent", "[message]") {
  company of(2);
  auto sent = of.all[1]->async_send_reliably("n0", std::string(1 << 20, 'x'), asio::use_future);
  of.all[1]->stop();
  std::error_code result;
  try {
    sent.get();
  } catch (const std::system_error& error) {
    result = error.code();
  }
  CHECK((!result || result == errc::canceled));
}
