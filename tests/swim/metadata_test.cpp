// Large metadata travels by its hash and is pulled by stream; small metadata rides in gossip.
#include <algorithm>
#include <memory>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

std::string bytes_of(std::size_t size, char with) {
  return std::string(size, with);
}

void set_metadata(village& v, std::size_t who, std::string metadata) {
  update_command change{};
  change.id = command_id{1000};
  change.metadata = std::move(metadata);
  v.command(who, change);
}

bool all_have(village& v, std::size_t who, const std::string& metadata) {
  for (std::size_t i = 0; i < v.size(); ++i) {
    view_row row;
    if (!v.machine(i).find_member(v.name(who), row) || row.subject->metadata != metadata) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("metadata rides up to 512 bytes, above that only its hash does", "[swim][metadata]") {
  record small;
  small.name = "a";
  small.metadata = bytes_of(512, 'x');
  hash_metadata(small);
  CHECK(small.metadata_hash == 0);
  record large = small;
  large.metadata = bytes_of(513, 'x');
  hash_metadata(large);
  CHECK(large.metadata_hash != 0);
  CHECK(size_bound(large) < 60);
  CHECK(size_bound(small) > 512);
}

TEST_CASE("records are equal whether or not their large metadata has been pulled",
          "[swim][metadata]") {
  record whole;
  whole.name = "a";
  whole.metadata = bytes_of(4000, 'x');
  hash_metadata(whole);
  record lacking = whole;
  lacking.metadata.clear();
  CHECK(lacking.lacks_metadata());
  CHECK_FALSE(whole.lacks_metadata());
  CHECK(lacking == whole);
  record other = whole;
  other.metadata = bytes_of(4000, 'y');
  hash_metadata(other);
  CHECK_FALSE(other == whole);
}

TEST_CASE("16 KiB of metadata reach every member, also those that join later, and each change",
          "[swim][metadata]") {
  village v(6);
  v.form();
  const std::string first = bytes_of(16384, 'x');
  set_metadata(v, 2, first);
  REQUIRE(v.run_until([&] { return all_have(v, 2, first); }, 5s));
  const auto late = v.add("late");
  v.join(late, 0);
  REQUIRE(v.run_until([&] { return v.all_see(7) && all_have(v, 2, first); }, 5s));
  const std::string second = bytes_of(10000, 'y');
  set_metadata(v, 2, second);
  REQUIRE(v.run_until([&] { return all_have(v, 2, second); }, 5s));
  const std::string small = "small again";
  set_metadata(v, 2, small);
  REQUIRE(v.run_until([&] { return all_have(v, 2, small); }, 5s));
}

TEST_CASE("metadata that hasn't changed isn't pulled again", "[swim][metadata]") {
  village v(4);
  v.form();
  const std::string large = bytes_of(8000, 'x');
  set_metadata(v, 1, large);
  REQUIRE(v.run_until([&] { return all_have(v, 1, large); }, 5s));
  const auto pulled = v.machine(0).stats().metadata_pulled;
  CHECK(pulled == 1);
  update_command change{};
  change.weight = weight::parse("3");
  v.command(1, change);
  v.run_for(5s);
  CHECK(all_have(v, 1, large));
  CHECK(v.machine(0).stats().metadata_pulled == pulled);
}

TEST_CASE("who can't reach the member itself pulls from another", "[swim][metadata]") {
  village v(5);
  v.form();
  v.cut(0, 4);
  v.cut(4, 0);
  const std::string large = bytes_of(8000, 'x');
  set_metadata(v, 4, large);
  REQUIRE(v.run_until([&] { return all_have(v, 4, large); }, 30s));
}

TEST_CASE("pulled bytes that don't match the hash are dropped", "[swim][metadata]") {
  stage s(3);
  auto changed = std::make_shared<record>(*s.part(2));
  changed->incarnation = 2;
  changed->metadata_hash = 42;
  update news;
  news.subject = changed;
  news.incarnation = 2;
  s.hear(2, news);
  CHECK(s.count(event_kind::updated, "m2") == 1);
  REQUIRE(s.run_until([&] { return !s.streams.empty(); }, 2s));
  const auto pulls = std::count_if(s.frames.begin(), s.frames.end(), [](const auto& f) {
    return std::holds_alternative<metadata_pull>(f.content.body);
  });
  CHECK(pulls == 1);
  s.give(stream_received{s.streams.front().stream, s.saying(2, metadata_push{42, "forged"})});
  view_row row;
  REQUIRE(s.machine.find_member("m2", row));
  CHECK(row.subject->metadata.empty());
  CHECK(s.machine.stats().dropped_bad_record == 1);
}

TEST_CASE("a stream that takes long is overtaken by two others, and not by more",
          "[swim][metadata]") {
  stage s(30);
  const auto tell = [&](std::size_t actor) {
    auto changed = std::make_shared<record>(*s.part(actor));
    changed->incarnation = 2;
    changed->metadata = bytes_of(3000, 'x');
    hash_metadata(*changed);
    changed->metadata.clear();
    update news;
    news.subject = changed;
    news.incarnation = 2;
    s.hear(actor, news);
  };
  const auto pulls = [&] {
    return std::count_if(s.frames.begin(), s.frames.end(), [](const auto& f) {
      return std::holds_alternative<metadata_pull>(f.content.body);
    });
  };
  tell(2);
  REQUIRE(s.run_until([&] { return pulls() == 1; }, 2s));
  const base::time_point first = s.now();
  CHECK(s.streams.front().to == s.part(2)->address);
  s.run_to(first + 999ms);
  CHECK(pulls() == 1);
  s.run_to(first + 1001ms);
  CHECK(pulls() == 2);
  CHECK(s.streams.back().to != s.part(2)->address);
  s.run_to(first + 9900ms);
  CHECK(pulls() == 3);

  // It has come: the others are waited for no longer, and bring nothing twice.
  s.give(stream_received{
      s.streams[1].stream,
      s.saying(1, metadata_push{hash_bytes(bytes_of(3000, 'x')), bytes_of(3000, 'x')})});
  CHECK(s.machine.stats().metadata_pulled == 1);
  s.run_for(20s);
  CHECK(pulls() == 3);

  for (std::size_t actor = 3; actor < 20; ++actor)
    tell(actor);
  s.run_for(9900ms);
  CHECK(pulls() == 3 + 8);  // all that there may be at once, however many are wanted
}

TEST_CASE("a member gives the metadata that it holds, of others too", "[swim][metadata]") {
  stage s(3);
  auto changed = std::make_shared<record>(*s.part(2));
  changed->incarnation = 2;
  changed->metadata = bytes_of(3000, 'x');
  hash_metadata(*changed);
  update news;
  news.subject = changed;
  news.incarnation = 2;
  s.hear(2, news);
  const auto id = stream_id{accepted_stream_bit | 1};
  s.give(stream_accepted{id, s.part(1)->address});
  s.frames.clear();
  const auto epoch = s.part(2)->epoch;
  s.give(stream_received{id, s.saying(1, metadata_pull{"m2", epoch, changed->metadata_hash})});
  REQUIRE(s.frames.size() == 1);
  const auto* push = std::get_if<metadata_push>(&s.frames.front().content.body);
  REQUIRE(push != nullptr);
  CHECK(push->bytes == changed->metadata);
  const auto other = stream_id{accepted_stream_bit | 2};
  s.give(stream_accepted{other, s.part(1)->address});
  s.frames.clear();
  s.give(stream_received{other, s.saying(1, metadata_pull{"m2", epoch, 7})});
  CHECK(s.frames.empty());
}
