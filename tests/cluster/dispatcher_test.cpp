// How messages and events share the way to the application, and what happens when it is slow.
#include "cluster/dispatcher.hpp"

#include <asio/io_context.hpp>

#include "support/catch.hpp"

using lifering::event_kind;
using lifering::message;
using lifering::message_kind;
namespace detail = lifering::cluster_detail;

namespace {

/// A dispatcher that is driven by this thread.
struct bench {
  explicit bench(std::size_t message_bytes = 1 << 20)
      : made(std::make_shared<detail::dispatcher>(
            context.get_executor(), detail::dispatcher::limits{1000, message_bytes},
            [this](const std::string& what) { complaints.push_back(what); })) {
    made->set_handler([this](const lifering::event& value) {
      story.push_back(std::get<lifering::member_event>(value).subject.name);
    });
    made->set_message_handler([this](const message& value) { story.push_back(value.payload); });
  }

  void say(const std::string& payload) {
    made->push(message{"n", message_kind::direct, payload, {}});
  }

  void happen(const std::string& name) {
    const auto subject = std::make_shared<lifering::member>();
    subject->name = name;
    std::vector<detail::member_change> changes;
    changes.push_back({event_kind::joined, {}, {}, subject});
    made->push(std::move(changes), std::nullopt);
  }

  void run() {
    context.restart();
    context.run();
  }

  asio::io_context context;
  std::shared_ptr<detail::dispatcher> made;
  std::vector<std::string> story;
  std::vector<std::string> complaints;
};

}  // namespace

TEST_CASE("messages come in order, and take turns with events", "[dispatcher]") {
  bench on;
  for (const auto* each : {"e1", "e2", "e3"})
    on.happen(each);
  for (const auto* each : {"m1", "m2", "m3"})
    on.say(each);
  on.run();
  CHECK(on.story == std::vector<std::string>{"e1", "m1", "e2", "m2", "e3", "m3"});
  CHECK(on.made->count().messages_delivered == 3);
  CHECK(on.made->count().message_bytes == 0);
}

TEST_CASE("beyond the limit the newest message is dropped and counted, and room comes back",
          "[dispatcher]") {
  constexpr std::size_t each = 128 + 72;
  bench on(3 * each);
  const std::string filler(72, 'x');
  for (int i = 0; i < 3; ++i) {
    CHECK(on.made->has_room(72));
    on.say(filler);
  }
  CHECK_FALSE(on.made->has_room(72));
  CHECK_FALSE(on.made->has_room(0));
  on.say("late");
  CHECK(on.made->count().messages_dropped == 1);
  CHECK(on.made->count().messages_refused == 2);
  CHECK(on.made->count().message_bytes == 3 * each);
  on.run();
  CHECK(on.story == std::vector<std::string>{filler, filler, filler});
  CHECK(on.made->has_room(3 * each - 128));
  CHECK_FALSE(on.made->has_room(3 * each - 127));
}

TEST_CASE("many calls are dealt with in turns, none is lost", "[dispatcher]") {
  bench on;
  for (int i = 0; i < 500; ++i) {
    on.happen("e" + std::to_string(i));
    on.say("m" + std::to_string(i));
  }
  on.run();
  CHECK(on.story.size() == 1000);
}

TEST_CASE("without a handler there is no room", "[dispatcher]") {
  bench on;
  on.made->set_message_handler(nullptr);
  CHECK_FALSE(on.made->has_room(0));
  on.say("lost");
  on.run();
  CHECK(on.story.empty());
  CHECK(on.made->count().messages_dropped == 1);
}

TEST_CASE("once closed nothing is called, neither messages nor what was invoked", "[dispatcher]") {
  bench on;
  on.say("m");
  on.happen("e");
  bool called = false;
  on.made->invoke([&] { called = true; });
  on.made->close();
  on.say("later");
  on.run();
  CHECK(on.story.empty());
  CHECK_FALSE(called);
  CHECK_FALSE(on.made->has_room(0));
}

TEST_CASE("a handler that throws is complained of, and the next is called", "[dispatcher]") {
  bench on;
  on.made->set_message_handler([](const message&) { throw std::runtime_error("on purpose"); });
  on.made->invoke([] { throw 7; });
  on.say("m");
  on.happen("e");
  on.run();
  CHECK(on.story == std::vector<std::string>{"e"});
  CHECK(on.complaints.size() == 2);
  CHECK(on.made->count().thrown == 2);
}
