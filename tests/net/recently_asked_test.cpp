// Questions that go once more with a proof.
#include "net/recently_asked.hpp"

#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::net;
using namespace std::chrono_literals;

namespace {

constexpr base::time_point start{std::chrono::hours(1)};
const endpoint here = *endpoint::parse("10.0.0.1:7946");
const endpoint there = *endpoint::parse("10.0.0.2:7946");

swim::body ping(std::uint64_t sequence) {
  return swim::ping{sequence, "b", 1};
}

}  // namespace

TEST_CASE("Questions to a peer are given back in the order in which they went, once each",
          "[seal]") {
  recently_asked questions;
  questions.add(here, ping(1), start);
  questions.add(there, ping(2), start);
  questions.add(here, ping(3), start + 1ms);
  CHECK(questions.take(here, start + 1s) == ping(1));
  CHECK(questions.take(here, start + 1s) == ping(3));
  CHECK(questions.take(there, start + 1s) == ping(2));
  CHECK_FALSE(questions.take(here, start + 1s));
  CHECK_FALSE(questions.take(there, start + 1s));
}

TEST_CASE("A question is kept for a second, and until 32 more have gone", "[seal]") {
  recently_asked questions;
  questions.add(here, ping(1), start);
  SECTION("a second and no more") {
    CHECK_FALSE(questions.take(here, start + 1001ms));
  }
  SECTION("31 more") {
    for (std::uint64_t i = 0; i < 31; ++i)
      questions.add(there, ping(i), start);
    CHECK(questions.take(here, start));
  }
  SECTION("32 more") {
    for (std::uint64_t i = 0; i < 32; ++i)
      questions.add(there, ping(i), start);
    CHECK_FALSE(questions.take(here, start));
  }
}

TEST_CASE("What is too old for an answer is given back, and nothing else", "[seal]") {
  recently_asked questions;
  const auto content = std::make_shared<const swim::record>();
  questions.add(here, swim::view_delta{{{content}}, {}}, start);
  questions.add(there, ping(1), start + 1s);
  questions.forget_old(start + 1s);
  CHECK(content.use_count() == 2);
  questions.forget_old(start + 2s);
  CHECK(content.use_count() == 1);
  CHECK(questions.take(there, start + 2s) == ping(1));
  questions.add(here, ping(2), start + 3s);
  CHECK(questions.take(here, start + 3s) == ping(2));
}

TEST_CASE("Answers, mere news and messages are no questions", "[seal]") {
  CHECK(recently_asked::is_question(ping(1)));
  CHECK_FALSE(recently_asked::is_question(swim::user_message{1, "text"}));
  CHECK_FALSE(recently_asked::is_question(swim::ack{1}));
  CHECK_FALSE(recently_asked::is_question(swim::nack{1}));
  CHECK_FALSE(recently_asked::is_question({}));
}
