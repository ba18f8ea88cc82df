// What is published, in which order, and how long builds stay out of the way.
#include "cluster/publisher.hpp"

#include <pthread.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <future>
#include <thread>

#include "cluster/ring_builder.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using lifering::event;
using lifering::event_kind;
using lifering::member;
using lifering::member_event;
using lifering::member_state;
using lifering::placement_options;
using lifering::ring_event;
namespace detail = lifering::cluster_detail;

namespace {

std::shared_ptr<const member> make(const std::string& name, member_state state,
                                   const std::string& metadata = "") {
  auto result = std::make_shared<member>();
  result->name = name;
  result->state = state;
  result->metadata = metadata;
  return result;
}

class remembered_operation final : public detail::operation {
 public:
  explicit remembered_operation(std::function<void()> told) : told_(std::move(told)) {}
  void complete(std::error_code, std::size_t, const std::string&) override { told_(); }
  void on_cancel(std::function<void()>) override {}

 private:
  std::function<void()> told_;
};

/// A publisher whose strand and whose callbacks run on this thread, step by step.
struct bench {
  explicit bench(placement_options placement) {
    events->set_handler([this](const event& value) {
      if (const auto* change = std::get_if<member_event>(&value)) {
        // The promise: the ring that includes the change is already published.
        const bool in_ring = published->ring().find(change->subject.name) != nullptr;
        CHECK(in_ring == change->subject.present());
        CHECK((published->members().find(change->subject.name) != nullptr) == in_ring);
        story.push_back(std::string(to_string(change->kind)) + ' ' + change->subject.name);
      } else {
        story.push_back("ring of " + std::to_string(std::get<ring_event>(value).members));
      }
    });
    published = std::make_shared<detail::publisher>(placement);
    published->bind(
        strand, events, [this](std::uint64_t fingerprint) { last_fingerprint = fingerprint; },
        {300ms, [this] { return now; },
         [this](lifering::base::time_point when, std::function<void()> call) {
           CHECK_FALSE(due);
           due_at = when;
           due = std::move(call);
         }},
        lifering::base::logger([this](lifering::log_level, std::string_view) { ++warnings; },
                               lifering::log_level::warning));
  }

  /// A batch in which these members come.
  detail::batch coming(const std::vector<std::string>& names) {
    detail::batch next;
    for (const auto& name : names) {
      const auto subject = make(name, member_state::alive);
      roster.apply(subject);
      next.changes.push_back({event_kind::joined, {}, {}, subject});
    }
    next.members = roster.publish();
    next.ring_changes = roster.take_ring_changes();
    return next;
  }

  /// Another member's build, which lasts until the promise is kept.
  std::promise<void> begin_other_build() {
    std::promise<void> made;
    asio::post(detail::ring_builder::of(context.get_executor()).executor(),
               [end = made.get_future().share()] { end.wait(); });
    return made;
  }

  /// Lets time pass up to there, and what waits for it happen.
  void at(lifering::base::time_point then) {
    now = then;
    if (due && due_at <= now) std::exchange(due, nullptr)();
  }

  /// Closes, and runs until that is done.
  void close() {
    bool closed = false;
    published->close([&] { closed = true; });
    run_until([&] { return closed; });
  }

  void run() {
    context.restart();
    context.run();
  }

  /// Runs until the builder's thread has handed its work back.
  void run_until(const std::function<bool()>& done) {
    auto work = asio::make_work_guard(context);
    context.restart();
    while (!done())
      context.run_one();
  }

  asio::io_context context;
  asio::strand<asio::any_io_executor> strand{
      asio::make_strand(asio::any_io_executor(context.get_executor()))};
  std::shared_ptr<detail::dispatcher> events = std::make_shared<detail::dispatcher>(
      context.get_executor(), detail::dispatcher::limits{1000, 1 << 20}, [](const std::string&) {});
  std::shared_ptr<detail::publisher> published;
  detail::roster roster;
  std::vector<std::string> story;
  std::uint64_t last_fingerprint = 0;
  int warnings = 0;

  // The clock, and what waits for it.
  lifering::base::time_point now{1h};
  lifering::base::time_point due_at{};
  std::function<void()> due;
};

}  // namespace

TEST_CASE("member events of a batch come first, its ring next, completions after the view is set",
          "[publisher]") {
  bench on(placement_options::classic());
  auto next = on.coming({"a", "b"});
  bool seen = false;
  next.completions.push_back({std::make_unique<remembered_operation>(
      [&] { seen = on.published->members().size() == 2 && on.published->ring().size() == 2; })});
  on.published->submit(std::move(next));
  CHECK(seen);
  on.run();
  CHECK(on.story == std::vector<std::string>{"joined a", "joined b", "ring of 2"});
  CHECK(on.last_fingerprint == on.published->ring().fingerprint());
}

TEST_CASE("a batch that moves no key publishes no ring", "[publisher]") {
  bench on(placement_options::classic());
  on.published->submit(on.coming({"a"}));
  const auto version = on.published->ring().version();
  const auto changed = make("a", member_state::alive, "new");
  detail::batch next;
  const auto before = on.roster.apply(changed);
  next.changes.push_back({event_kind::updated, {}, before, changed});
  next.members = on.roster.publish();
  next.ring_changes = on.roster.take_ring_changes();
  on.published->submit(std::move(next));
  on.run();
  CHECK(on.published->ring().version() == version);
  CHECK(on.story == std::vector<std::string>{"joined a", "ring of 1", "updated a"});
}

TEST_CASE("a long build leaves the strand, and what comes meanwhile is one publication after it",
          "[publisher]") {
  auto placement = placement_options::slots();
  placement.segments = 20;  // two changes are beyond a short build
  bench on(placement);
  int completed = 0;
  const auto batch_of = [&](const std::vector<std::string>& names) {
    auto next = on.coming(names);
    next.completions.push_back({std::make_unique<remembered_operation>([&] { ++completed; })});
    return next;
  };
  on.published->submit(batch_of({"a", "b"}));
  while (on.published->count().long_builds == 0)
    std::this_thread::yield();
  on.published->submit(batch_of({"c", "d"}));
  on.published->submit(batch_of({"e"}));
  CHECK(completed == 0);
  on.run_until([&] { return completed == 3; });
  on.run();
  CHECK(on.story == std::vector<std::string>{"joined a", "joined b", "ring of 2", "joined c",
                                             "joined d", "joined e", "ring of 5"});
  CHECK(on.published->count().long_builds == 2);
  CHECK(on.published->count().gathered == 2);
  on.close();
}

TEST_CASE("members on one loop build in turns, and what comes before a turn goes into its ring",
          "[publisher]") {
  auto placement = placement_options::slots();
  placement.segments = 20;
  bench on(placement);
  auto other_build = on.begin_other_build();
  on.published->submit(on.coming({"a", "b"}));
  on.published->submit(on.coming({"c"}));
  auto next = on.coming({"d"});
  next.completions.push_back(
      {std::make_unique<remembered_operation>([&] { on.story.push_back("completed"); })});
  on.published->submit(std::move(next));
  CHECK(on.published->ring().size() == 0);
  other_build.set_value();
  on.run_until([&] { return on.story.size() == 6; });
  std::sort(on.story.begin(), on.story.end());  // Events and completions have strands of their own.
  CHECK(on.story == std::vector<std::string>{"completed", "joined a", "joined b", "joined c",
                                             "joined d", "ring of 4"});
  CHECK(on.published->count().long_builds == 1);
  CHECK(on.published->count().gathered == 2);
  on.close();
}

#if defined(__GLIBC__)
TEST_CASE("where the system has no thread to give, a ring is built on the loop", "[publisher]") {
  auto placement = placement_options::slots();
  placement.segments = 20;
  bench on(placement);
  pthread_attr_t usual;
  pthread_attr_t huge;
  REQUIRE(pthread_getattr_default_np(&usual) == 0);
  REQUIRE(pthread_getattr_default_np(&huge) == 0);
  REQUIRE(pthread_attr_setstacksize(&huge, std::size_t{1} << 46) == 0);
  REQUIRE(pthread_setattr_default_np(&huge) == 0);
  on.published->submit(on.coming({"a", "b"}));
  REQUIRE(pthread_setattr_default_np(&usual) == 0);
  CHECK(on.published->ring().size() == 2);
  CHECK(on.published->count().long_builds == 0);
  CHECK(on.warnings == 1);
  // As soon as there is one, it serves.
  on.at(on.now + 1h);
  on.published->submit(on.coming({"c", "d"}));
  on.run_until([&] { return on.published->ring().size() == 4; });
  CHECK(on.published->count().long_builds == 1);
  on.close();
}
#endif

TEST_CASE("the first change of a quiet ring is published at once, later ones gather for 0.3 s",
          "[publisher]") {
  bench on(placement_options::classic());
  const auto begin = on.now;
  on.published->submit(on.coming({"a"}));
  CHECK(on.published->ring().size() == 1);
  on.now = begin + 1ms;
  on.published->submit(on.coming({"b"}));
  on.now = begin + 200ms;
  on.published->submit(on.coming({"c", "d"}));
  on.at(begin + 299ms);
  CHECK(on.published->ring().size() == 1);
  CHECK(on.published->members().size() == 1);
  on.at(begin + 300ms);
  CHECK(on.published->ring().size() == 4);
  CHECK(on.published->members().size() == 4);
  CHECK(on.published->ring().version() == 2);
  // The next one follows that ring, not the first.
  on.now = begin + 599ms;
  on.published->submit(on.coming({"e"}));
  CHECK(on.published->ring().size() == 4);
  on.at(begin + 600ms);
  CHECK(on.published->ring().size() == 5);
  // And after a quiet time it is at once again.
  on.now = begin + 900ms;
  on.published->submit(on.coming({"f"}));
  CHECK(on.published->ring().size() == 6);
  on.run();
  CHECK(on.story == std::vector<std::string>{"joined a", "ring of 1", "joined b", "joined c",
                                             "joined d", "ring of 4", "joined e", "ring of 5",
                                             "joined f", "ring of 6"});
}

TEST_CASE("after a long build a ring waits while changes go on, for ten builds and ten gatherings",
          "[publisher]") {
  const auto [build, patience] =
      GENERATE(table<std::chrono::milliseconds, std::chrono::milliseconds>(
          {{1ms, 300ms}, {30ms, 300ms}, {50ms, 500ms}, {300ms, 3000ms}, {10s, 3000ms}}));
  const bool pauses = GENERATE(true, false);
  auto placement = placement_options::slots();
  placement.segments = 20;
  bench on(placement);
  on.published->submit(on.coming({"a", "b"}));
  on.now += build;
  on.run_until([&] { return on.last_fingerprint != 0; });
  const auto built = on.now;
  auto last = built;  // Changes go on until then.
  for (int i = 0; i < (pauses ? 5 : 100); ++i) {
    if (built + 50ms * i >= built + patience) break;
    last = built + 50ms * i;
    on.at(last);
    on.published->submit(on.coming({"c" + std::to_string(i)}));
    on.published->expect_more();  // A join that begins then changes nothing.
  }
  const auto expected = std::clamp(last + 100ms, built + 300ms, built + patience);
  // The call that was asked for may find that it is too early, and ask again.
  for (auto moment = last; moment < expected; moment += 1ms)
    on.at(moment);
  CHECK(on.published->ring().size() == 2);
  on.at(expected);
  on.run_until([&] { return on.published->ring().size() > 2; });
  on.close();
}

TEST_CASE("what changes no ring waits for no other ring, but not before one that is held back",
          "[publisher]") {
  bench on(placement_options::classic());
  on.published->submit(on.coming({"a"}));
  const auto suspicion_of_a = [&] {
    const auto subject = make("a", member_state::suspect);
    detail::batch next;
    const auto before = on.roster.apply(subject);
    next.changes.push_back({event_kind::suspected, {}, before, subject});
    next.members = on.roster.publish();
    next.ring_changes = on.roster.take_ring_changes();
    return next;
  };
  on.published->submit(suspicion_of_a());
  CHECK(on.published->members()[0].state == member_state::suspect);
  on.published->submit(on.coming({"b"}));
  on.published->submit(suspicion_of_a());
  CHECK(on.published->members().size() == 1);
  on.at(on.now + 300ms);
  on.run();
  CHECK(on.story == std::vector<std::string>{"joined a", "ring of 1", "suspected a", "joined b",
                                             "suspected a", "ring of 2"});
}

TEST_CASE("what an operation of our own completes with is published at once, with what waits",
          "[publisher]") {
  bench on(placement_options::classic());
  on.published->submit(on.coming({"a"}));
  on.published->submit(on.coming({"b"}));
  CHECK(on.published->ring().size() == 1);
  auto next = on.coming({"c"});
  bool seen = false;
  next.completions.push_back({std::make_unique<remembered_operation>(
      [&] { seen = on.published->ring().size() == 3 && on.published->members().size() == 3; })});
  on.published->submit(std::move(next));
  CHECK(seen);
  auto own = on.coming({"d"});
  own.urgent = true;
  on.published->submit(std::move(own));
  CHECK(on.published->ring().size() == 4);
  // The call that was asked for finds nothing to do.
  on.at(on.now + 300ms);
  CHECK(on.published->ring().version() == 3);
}

TEST_CASE("what a join brings is gathered until it completes, or for 0.3 s", "[publisher]") {
  const bool completes = GENERATE(true, false);
  bench on(placement_options::classic());
  const auto begin = on.now;
  on.published->expect_more();
  on.published->submit(on.coming({"a"}));
  on.now = begin + 100ms;
  on.published->submit(on.coming({"b"}));
  on.published->expect_more();  // another join: what waits doesn't wait for it
  CHECK(on.published->ring().size() == 0);
  if (completes) {
    auto next = on.coming({"c"});
    next.completions.push_back({std::make_unique<remembered_operation>([] {})});
    on.published->submit(std::move(next));
    CHECK(on.published->ring().size() == 3);
  } else {
    on.at(begin + 299ms);
    CHECK(on.published->ring().size() == 0);
    on.at(begin + 300ms);
    CHECK(on.published->ring().size() == 2);
  }
  CHECK(on.published->ring().version() == 1);
}

TEST_CASE("closing publishes what is held back", "[publisher]") {
  bench on(placement_options::classic());
  on.published->submit(on.coming({"a"}));
  on.published->submit(on.coming({"b"}));
  on.close();
  CHECK(on.published->ring().size() == 2);
  CHECK(on.published->members().size() == 2);
  on.run();
  CHECK(on.story.back() == "ring of 2");
}

TEST_CASE("closing completes what waits for a build", "[publisher]") {
  auto placement = placement_options::slots();
  placement.segments = 20;
  bench on(placement);
  int completed = 0;
  for (const auto* name : {"a", "b"}) {
    auto next = on.coming({name, std::string(name) + "2"});
    next.completions.push_back({std::make_unique<remembered_operation>([&] { ++completed; })});
    on.published->submit(std::move(next));
  }
  on.close();
  CHECK(completed == 2);
  on.run();
}

TEST_CASE("a disconnected publisher's builder has done its work and leaves the executor alone",
          "[publisher]") {
  auto placement = placement_options::slots();
  placement.segments = 20;
  bench on(placement);
  int completed = 0;
  auto next = on.coming({"a", "b"});
  next.completions.push_back({std::make_unique<remembered_operation>([&] { ++completed; })});
  on.published->submit(std::move(next));
  while (on.published->count().long_builds == 0)
    std::this_thread::yield();
  on.published->disconnect();
  CHECK(on.published->ring().size() == 2);
  on.close();
  on.run();
  CHECK(completed == 1);
}

TEST_CASE(
    "a publisher whose build waits for its turn is disconnected at once, and tells its operations",
    "[publisher]") {
  const bool closes = GENERATE(true, false);
  auto placement = placement_options::slots();
  placement.segments = 20;
  bench on(placement);
  auto other_build = on.begin_other_build();
  int completed = 0;
  const auto completing = [&](const std::vector<std::string>& names) {
    auto next = on.coming(names);
    next.completions.push_back({std::make_unique<remembered_operation>([&] { ++completed; })});
    return next;
  };
  on.published->submit(completing({"a", "b"}));
  on.published->submit(completing({"c"}));
  on.published->disconnect();  // Returns, although the other build is under way.
  if (closes) on.close();
  CHECK(completed == (closes ? 2 : 0));
  on.published.reset();
  other_build.set_value();
  on.run();
  CHECK(on.story.empty());
}

TEST_CASE("an owner that the ring names is found with its addresses", "[publisher]") {
  bench on(placement_options::classic());
  CHECK_FALSE(on.published->owner("key").has_value());
  on.published->submit(on.coming({"a", "b", "c"}));
  const auto owner = on.published->owner("key");
  REQUIRE(owner.has_value());
  CHECK(owner->name == on.published->ring().owner("key")->name);
  const auto all = on.published->owners("key", 10);
  CHECK(all.size() == 3);
  CHECK(all[0].name == owner->name);
  CHECK_FALSE(on.published->owner("").has_value());
}

TEST_CASE("waiting for members ends when they are there, when time is up or when it is over",
          "[publisher]") {
  bench on(placement_options::classic());
  on.published->submit(on.coming({"a", "b"}));
  CHECK(on.published->wait_for(2, 0ms));
  CHECK_FALSE(on.published->wait_for(3, 1ms));
  on.published->disconnect();
  CHECK_FALSE(on.published->wait_for(3, 1h));
}
