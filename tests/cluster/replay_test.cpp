// Whoever can listen and speak, but has no key: what he has recorded of sealed members, said again
// to them or to others, changes nothing.
#include <algorithm>
#include <array>
#include <span>

#include "cluster/inhabitant.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::endpoint;
using lifering::event_kind;

namespace {

struct witness : inhabitant {
  witness(const std::shared_ptr<memory_network>& network, std::uint8_t number,
          const std::shared_ptr<lifering::keyring>& keys)
      : inhabitant([&] {
          auto options = options_of(network, number, keys);
          options.limits.streams_per_source = 96;
          return options;
        }()) {}

  std::size_t member_events() {
    const auto all = events.all();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& each) {
      return std::holds_alternative<lifering::member_event>(each);
    }));
  }

  std::uint64_t dropped(std::string_view reason) const {
    for (const auto& row : member->stats()) {
      if (row.name == "dropped" && row.reason == reason) return row.value;
    }
    return 0;
  }
};

/// Says on a new stream what was said on another, and waits until the member ends it.
bool replay(memory_network& network, const endpoint& from, const endpoint& to,
            const std::vector<std::uint8_t>& bytes) {
  const auto stream = network.open_stream(from, to);
  if (!stream) return false;
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const auto answer = std::make_shared<std::array<std::uint8_t, 4096>>();
  const auto kept = std::make_shared<std::vector<std::uint8_t>>(bytes);
  stream->async_write(*kept, [kept](std::error_code, std::size_t) {});
  const auto read = std::make_shared<std::function<void()>>();
  *read = [stream, ended, answer, weak = std::weak_ptr(read)] {
    stream->async_read_some(*answer,
                            [ended, keep = weak.lock()](std::error_code error, std::size_t size) {
                              if (error || size == 0) {
                                *ended = true;
                              } else {
                                (*keep)();
                              }
                            });
  };
  (*read)();
  const bool is_over = eventually([&] { return ended->load(); });
  stream->close();
  return is_over;
}

/// An envelope tells its length in its first ten bytes.
std::vector<std::vector<std::uint8_t>> frames_of(std::span<const std::uint8_t> stream) {
  std::vector<std::vector<std::uint8_t>> frames;
  while (stream.size() >= 10) {
    std::size_t size = 10 + stream[5];
    for (std::size_t i = 6, length = 0; i < 10; ++i) {
      length = length << 8 | stream[i];
      if (i == 9) size += length;
    }
    const auto frame = stream.first(size);
    frames.emplace_back(frame.begin(), frame.end());
    stream = stream.subspan(size);
  }
  return frames;
}

}  // namespace

TEST_CASE("what was recorded of sealed members and is said again changes nothing", "[replay]") {
  const auto keys = one_key();
  const auto network = std::make_shared<memory_network>();
  witness one(network, 1, keys);
  witness two(network, 2, keys);
  witness three(network, 3, keys);
  witness four(network, 4, keys);
  const std::vector<witness*> all{&one, &two, &three, &four};
  for (auto* each : {&two, &three, &four})
    REQUIRE(each->member->join({place(1).to_string()}) == 1);
  for (auto* each : all)
    REQUIRE(each->member->wait_for(4, patience));

  // Something of each kind.
  one.member->send_reliably("member-2", "reliable");
  one.member->send("member-2", "direct");
  one.member->broadcast("broadcast");
  one.member->set_metadata(std::string(4'000, 'm'));
  REQUIRE(eventually([&] { return two.times_heard("direct") == 1; }));
  REQUIRE(eventually([&] { return three.times_heard("broadcast") == 1; }));
  REQUIRE(eventually([&] { return three.member->find("member-1")->metadata.size() == 4'000; }));
  // One who leaves must not come back by what he said while he was here.
  REQUIRE(four.member->leave() > 0);
  for (auto* each : {&one, &two, &three})
    REQUIRE(each->events.has(event_kind::left, "member-4"));
  const auto agrees = [&] {
    const auto digest = stat(*one.member, "view_digest");
    return std::all_of(all.begin(), all.begin() + 3, [&](witness* each) {
      return stat(*each->member, "view_digest") == digest &&
             stat(*each->member, "members_left") == 1;
    });
  };
  REQUIRE(eventually(agrees));

  const auto digest = stat(*one.member, "view_digest");
  const auto fingerprint = one.member->ring().fingerprint();
  std::vector<std::size_t> events;
  for (auto* each : all)
    events.push_back(each->member_events());
  const auto datagrams = network->datagrams();
  const auto streams = network->streams();
  REQUIRE(datagrams.size() > 50);
  REQUIRE(streams.size() >= 4);

  // To whom it was meant; to everybody else; and as if it came from elsewhere.
  for (const auto& each : datagrams) {
    for (std::uint8_t to = 1; to <= 3; ++to) {
      network->inject(each.from, place(to), each.bytes);
      network->inject(place(99), place(to), each.bytes);
    }
  }
  for (const auto& each : streams) {
    for (std::uint8_t to = 1; to <= 3; ++to) {
      CHECK(replay(*network, each.from, place(to), each.bytes));
      CHECK(replay(*network, place(98), place(to), each.answer));
    }
  }

  // The members talk on, so that what has changed would have spread and shown.
  const auto probes = stat(*one.member, "probes");
  REQUIRE(eventually([&] { return stat(*one.member, "probes") > probes + 10; }));
  CHECK(eventually(agrees));
  CHECK(stat(*one.member, "view_digest") == digest);
  CHECK(one.member->ring().fingerprint() == fingerprint);
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("member-" << i + 1);
    CHECK(all[i]->member_events() == events[i]);
  }
  for (auto* each : {&one, &two, &three}) {
    CHECK(each->member->members().size() == 3);
    CHECK(each->times_heard("reliable") == (each == &two ? 1 : 0));
    CHECK(each->times_heard("direct") == (each == &two ? 1 : 0));
    CHECK(each->times_heard("broadcast") == (each == &one ? 0 : 1));
    CHECK(each->dropped("repeated") > 0);
    CHECK(each->dropped("unproven") > 0);
  }
  // Nor to one who knows nothing: he asks the members whether they live, which they do, and takes
  // nothing that they said before their answer.
  witness five(network, 5, keys);
  for (const auto& each : datagrams)
    network->inject(each.from, place(5), each.bytes);
  CHECK(eventually(
      [&] { return five.dropped("unproven") + five.dropped("repeated") > datagrams.size() / 2; }));
  CHECK(five.dropped("unproven") > 0);
  CHECK(five.member->members().size() == 1);
  CHECK(five.times_heard("direct") + five.times_heard("broadcast") == 0);
}

TEST_CASE("what was said on a stream is heard no second time as datagrams", "[replay]") {
  const auto keys = one_key();
  const auto network = std::make_shared<memory_network>();
  witness one(network, 1, keys);
  witness two(network, 2, keys);
  REQUIRE(two.member->join({place(1).to_string()}) == 1);
  REQUIRE(one.member->wait_for(2, patience));
  for (int round = 0; round < 5; ++round) {
    const std::string text = "reliable " + std::to_string(round);
    one.member->send_reliably("member-2", text);
    REQUIRE(eventually([&] { return two.times_heard(text) == 1; }));
    // At once: a number that much has overtaken is dropped for its age.
    const auto said = network->streams().back();
    REQUIRE(said.from == place(1));
    const auto dropped = two.dropped("repeated");
    const auto frames = frames_of(said.bytes);
    REQUIRE(frames.size() >= 2);
    for (const auto& each : frames)
      network->inject(place(1), place(2), each);
    CHECK(eventually([&] { return two.dropped("repeated") >= dropped + frames.size(); }));
    CHECK(two.times_heard(text) == 1);
  }
}
