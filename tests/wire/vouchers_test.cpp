// Lives that are proven because one who is believed has heard them.
#include "wire/vouchers.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "wire/codec.hpp"
#include "wire/keys.hpp"
#include "wire/seal.hpp"

using lifering::endpoint;
using lifering::member_state;
using lifering::wire::codec;
using lifering::wire::decode_error;
using lifering::wire::keyring;
using lifering::wire::seal_mode;
using lifering::wire::testing::test_key;
namespace swim = lifering::swim;
namespace wire = lifering::wire;

namespace {

using bytes = std::vector<std::uint8_t>;

swim::record_ptr record_of(const std::string& name) {
  swim::record made;
  made.name = name;
  made.epoch = 1;
  made.incarnation = 1;
  made.address = endpoint::v4({10, 0, 0, 1}, 7946);
  return std::make_shared<const swim::record>(std::move(made));
}

swim::update alive(const std::string& name) {
  swim::update made;
  made.subject = record_of(name);
  made.incarnation = 1;
  return made;
}

/// One life of a member, with the key that all have.
struct node {
  std::string name;
  codec with;

  explicit node(std::string called, seal_mode mode = seal_mode::require)
      : name(std::move(called)),
        with("cluster", std::make_shared<keyring>(mode, std::vector{test_key(1)})) {}

  swim::packet says(swim::body content = {}) const {
    swim::packet made;
    made.from.name = name;
    made.from.epoch = 1;
    made.body = std::move(content);
    return made;
  }

  bytes sends(const swim::packet& what) {
    bytes out;
    with.encode(what, out);
    return out;
  }

  bytes speaks() { return sends(says(swim::ack{1})); }

  decode_error takes(const bytes& datagram) {
    swim::packet received;
    return with.decode(datagram, received);
  }

  /// The sender has proved itself, and what it says is taken.
  void believes(const bytes& datagram) {
    swim::packet received;
    REQUIRE(with.decode(datagram, received) == decode_error::none);
    believes(received);
  }

  void believes_frame(const bytes& frame) {
    swim::packet received;
    REQUIRE(with.decode_frame(frame, received) == decode_error::none);
    believes(received);
  }

  bool has_proof_of(const std::string& whom) const { return with.is_proven(whom, 1); }

 private:
  void believes(const swim::packet& received) {
    with.mark_proven(received.from);
    with.believe_vouchers(received);
  }
};

/// Who is told of, who tells and who hears it.
struct scene {
  node life{"life"};
  node teller{"teller"};
  node listener{"listener"};
};

/// What tells of a life, each kind of packet that can.
std::vector<swim::packet> tales_of(const std::string& whom, const node& teller,
                                   member_state state) {
  const swim::view_row row{record_of(whom), 1, state};
  swim::packet news = teller.says(swim::ping{1, "listener", 1});
  news.updates.push_back(alive(whom));
  return {news, teller.says(swim::view_rows{{row}, true}),
          teller.says(swim::view_delta{{row}, {}})};
}

}  // namespace

TEST_CASE("Who tells of a life vouches for it, up to the last packet that it knows of",
          "[wire][seal]") {
  for (std::size_t kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    scene all;
    auto& [life, teller, listener] = all;
    std::vector<bytes> sent;
    for (int i = 0; i < 10; ++i)
      sent.push_back(life.speaks());
    teller.believes(sent[4]);
    const auto tale = tales_of("life", teller, member_state::suspect)[kind];
    listener.believes(teller.sends(tale));
    CHECK(listener.has_proof_of("life"));
    for (const std::size_t old : {0U, 3U, 4U})
      CHECK(listener.takes(sent[old]) == decode_error::repeated);
    for (const std::size_t later : {5U, 9U, 8U}) {
      CHECK(listener.takes(sent[later]) == decode_error::none);
      CHECK(listener.with.last_receipt().proven);
    }

    // Who believes it passes it on, with what it has heard since.
    node further("further");
    further.believes(listener.sends(tales_of("life", listener, member_state::alive)[kind]));
    CHECK(further.has_proof_of("life"));
    CHECK(further.takes(sent[9]) == decode_error::repeated);
    CHECK(further.takes(life.speaks()) == decode_error::none);
  }
}

TEST_CASE("Nobody vouches for a life that isn't proven to it, nor for one that is gone",
          "[wire][seal]") {
  for (std::size_t kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    scene all;
    auto& [life, teller, listener] = all;
    REQUIRE(teller.takes(life.speaks()) == decode_error::none);  // Heard, and no more.
    listener.believes(teller.sends(tales_of("life", teller, member_state::alive)[kind]));
    CHECK_FALSE(listener.has_proof_of("life"));
    // Nor is a voucher of an earlier packet taken for one of this life.
    node other("other");
    teller.believes(other.speaks());
    listener.believes(teller.sends(tales_of("other", teller, member_state::alive)[kind]));
    REQUIRE(listener.has_proof_of("other"));
    listener.believes(teller.sends(tales_of("life", teller, member_state::alive)[kind]));
    CHECK_FALSE(listener.has_proof_of("life"));
    teller.believes(life.speaks());
    if (kind == 0) continue;  // News of an end has no record.
    node ignorant("teller");
    for (const auto state : {member_state::failed, member_state::left}) {
      const auto tale = tales_of("life", teller, state)[kind];
      CHECK(teller.sends(tale).size() == ignorant.sends(tale).size());
      wire::replay_guard guard(1);  // Nor would it be believed.
      wire::believe_vouchers(tale, std::vector<std::uint64_t>{1}, guard);
      CHECK_FALSE(guard.is_proven("life", 1));
    }
  }
}

TEST_CASE("What vouches in vain: a teller that isn't believed, and plain packets", "[wire][seal]") {
  scene all;
  auto& [life, teller, listener] = all;
  teller.believes(life.speaks());
  const auto tale = tales_of("life", teller, member_state::alive).front();
  REQUIRE(listener.takes(teller.sends(tale)) == decode_error::none);
  CHECK_FALSE(listener.has_proof_of("life"));

  node plain("plain", seal_mode::off);
  plain.believes(life.speaks());
  const auto in_clear = plain.sends(tales_of("life", plain, member_state::alive).front());
  node open("open", seal_mode::accept);
  CHECK(open.takes(in_clear) == decode_error::none);
  node ignorant("plain", seal_mode::off);
  CHECK(in_clear == ignorant.sends(tales_of("life", ignorant, member_state::alive).front()));
  CHECK_FALSE(open.has_proof_of("life"));
}

TEST_CASE("A voucher for another life of the name is worth nothing to this one", "[wire][seal]") {
  scene all;
  auto& [life, teller, listener] = all;
  teller.believes(life.speaks());
  listener.believes(teller.sends(tales_of("life", teller, member_state::alive).front()));
  swim::packet next = life.says(swim::ack{1});
  next.from.epoch = 2;
  CHECK(listener.takes(life.sends(next)) == decode_error::none);
  CHECK_FALSE(listener.with.last_receipt().proven);
}

TEST_CASE("A datagram vouches for as many as its room allows, a frame for all", "[wire][seal]") {
  const std::size_t spoken = GENERATE(std::size_t{1}, std::size_t{300});  // One or two bytes each.
  constexpr std::size_t count = 200;
  node teller("teller");
  swim::packet view = teller.says();
  swim::view_rows rows;
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = "life-" + std::to_string(i);
    node life(name);
    bytes last;
    for (std::size_t k = 0; k < spoken; ++k)
      last = life.speaks();
    // Every tenth is unknown to the teller.
    if (i % 10 != 3) teller.believes(last);
    rows.rows.push_back({record_of(name), 1, member_state::alive});
  }
  view.body = std::move(rows);

  const auto datagram = teller.sends(view);
  CHECK(datagram.size() <= teller.with.overhead() + swim::size_bound(view));
  node ignorant("teller");
  CHECK(datagram.size() <= ignorant.sends(view).size() + wire::vouchers_size_max);
  node few("few");
  few.believes(datagram);
  bytes frame;
  teller.with.encode_frame(view, frame);
  node all("all");
  all.believes_frame(frame);
  std::size_t by_datagram = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = "life-" + std::to_string(i);
    CHECK(all.has_proof_of(name) == (i % 10 != 3));
    by_datagram += few.has_proof_of(name) ? 1U : 0U;
  }
  const std::size_t numbers = (wire::vouchers_size_max - 5) / (spoken == 1 ? 1 : 2);
  CHECK(by_datagram <= numbers);
  CHECK(by_datagram >= numbers * 8 / 10);
}

TEST_CASE("Numbers prove the lives of their records that are here, whatever else they may be",
          "[wire][seal]") {
  swim::update doubted = alive("doubted");
  doubted.kind = swim::update_kind::suspect;
  swim::packet told;
  told.updates = {doubted, alive("first")};
  told.body = swim::view_rows{{{record_of("gone"), 1, member_state::failed},
                               {record_of("unheard"), 1, member_state::alive},
                               {record_of("last"), 1, member_state::alive}},
                              true};
  const auto largest = ~std::uint64_t{0};
  const std::vector<std::uint64_t> numbers{5, 6, 0, largest, 7, largest};
  wire::replay_guard guard(8);
  wire::believe_vouchers(told, numbers, guard);
  CHECK(guard.lives() == 2);
  CHECK(guard.last_proven("first", 1) == 5);
  CHECK(guard.last_proven("last", 1) == largest);
  CHECK(guard.accept("first", 1, 5) == wire::replay_guard::verdict::repeated);
  CHECK(guard.accept("first", 1, 6) == wire::replay_guard::verdict::fresh);
  CHECK(guard.accept("last", 1, 1) == wire::replay_guard::verdict::repeated);
  CHECK(guard.accept("last", 1, largest) == wire::replay_guard::verdict::repeated);
}
