// The bytes of version 1, for ever. A change that breaks one of these files breaks clusters: it is
// a new version of the protocol, and README.md of lib/wire has the rule for that.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "wire/codec.hpp"
#include "wire/keys.hpp"
#include "wire/raw.hpp"
#include "wire/seal.hpp"

using lifering::endpoint;
using lifering::member_phase;
using lifering::member_state;
using lifering::weight;
using lifering::wire::codec;
using lifering::wire::decode_error;
using namespace lifering::wire::testing;  // raw_*
namespace swim = lifering::swim;
namespace wire = lifering::wire;

namespace {

constexpr auto cluster = "golden";
using bytes = std::vector<std::uint8_t>;

std::string path_of(const std::string& name) {
  return std::string(LIFERING_GOLDEN_DIR) + "/" + name + ".hex";
}

/// Reads hexadecimal digits; blanks don't matter and a line may be a comment.
bytes read_golden(const std::string& name) {
  std::ifstream file(path_of(name));
  REQUIRE(file);
  bytes out;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
      out.push_back(static_cast<std::uint8_t>(std::stoul(line.substr(i, 2), nullptr, 16)));
    }
  }
  return out;
}

std::string to_hex(const bytes& from) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i != 0 && i % 32 == 0) out += '\n';
    out += digits[from[i] >> 4];
    out += digits[from[i] & 15];
  }
  return out + '\n';
}

swim::packet from_a() {
  swim::packet made;
  made.from = {"a", 0x1'2345, 7, 0x1111222233334444, 0x5555666677778888, 0x9999aaaabbbbcccc, 3};
  return made;
}

swim::record_ptr record_b() {
  swim::record made;
  made.name = "b";
  made.epoch = 0x2'0001;
  made.incarnation = 300;
  made.address = endpoint::v4({10, 0, 0, 2}, 7946);
  made.weight = *weight::parse("2.5");
  made.phase = member_phase::draining;
  made.zone = "zone-1";
  made.service = "10.0.0.2:80";
  made.metadata = std::string("\x00\xff{}", 4);
  return std::make_shared<const swim::record>(std::move(made));
}

swim::record_ptr record_c() {
  swim::record made;
  made.name = "c";
  made.epoch = 0xffff'ffff'ffff'ffff;
  made.address = *endpoint::parse("[fe80::1%3]:65535");
  made.weight = *weight::parse("0");
  made.unknown_fields = raw_number(10, 1) + raw_bytes(100, "later");
  return std::make_shared<const swim::record>(std::move(made));
}

swim::packet with_body(swim::body body) {
  auto made = from_a();
  made.body = std::move(body);
  return made;
}

swim::update claim(swim::update_kind kind) {
  swim::update made;
  made.kind = kind;
  made.name = "b";
  made.epoch = 0x2'0001;
  made.incarnation = 300;
  return made;
}

swim::packet news() {
  auto made = with_body(swim::ack{1});
  swim::update alive;
  alive.subject = record_b();
  alive.incarnation = alive.subject->incarnation;
  auto suspect = claim(swim::update_kind::suspect);
  suspect.accuser = "c";
  suspect.accuser_epoch = 5;
  suspect.refused = true;
  auto failed = claim(swim::update_kind::failed);
  failed.accuser = "c";
  failed.witnesses = 3;
  made.updates = {alive, suspect, failed, claim(swim::update_kind::left)};
  made.broadcasts = {{"b", 0x2'0001, 9, "to all"}};
  return made;
}

swim::record_ptr record_d() {
  swim::record made;
  made.name = "d";
  made.epoch = 0x1'0002;
  made.incarnation = 2;
  made.address = endpoint::v4({10, 0, 0, 4}, 7946);
  made.metadata = std::string(600, 'm');
  swim::hash_metadata(made);
  return std::make_shared<const swim::record>(std::move(made));
}

/// What travels of large metadata, and what a verdict counts.
swim::packet flapping() {
  auto made = with_body(swim::ack{1});
  swim::update alive;
  alive.subject = record_d();
  alive.incarnation = alive.subject->incarnation;
  auto failed = claim(swim::update_kind::failed);
  failed.accuser = "c";
  failed.witnesses = 3;
  failed.failures = 2;
  made.updates = {alive, failed};
  return made;
}

const std::vector<std::pair<std::string, swim::packet>>& packets() {
  const swim::view_rows rows{
      {{record_b(), 301, member_state::suspect}, {record_c(), 0, member_state::left}}, true};
  static const std::vector<std::pair<std::string, swim::packet>> all{
      {"v1-empty", from_a()},
      {"v1-ping", with_body(swim::ping{1, "b", 0x2'0001})},
      {"v1-ping-request",
       with_body(swim::ping_request{2, "b", 0x2'0001, endpoint::v4({10, 0, 0, 2}, 7946), 500})},
      {"v1-ack", with_body(swim::ack{0xffff'ffff'ffff'ffff})},
      {"v1-nack", with_body(swim::nack{3})},
      {"v1-sync-request", with_body(swim::sync_request{true, true})},
      {"v1-sync-reply", with_body(swim::sync_reply{9, *endpoint::parse("[2001:db8::7]:1")})},
      {"v1-view-rows", with_body(rows)},
      {"v1-refusal", with_body(swim::refusal{swim::refusal_reason::name_in_use, "b is a member"})},
      {"v1-refusal-of-ourselves",
       with_body(swim::refusal{swim::refusal_reason::ourselves, "its address leads to ourselves"})},
      {"v1-user-message", with_body(swim::user_message{4, "hello"})},
      {"v1-view-compare", with_body(swim::view_compare{{1, 0xffff'ffff'ffff'ffff}})},
      {"v1-view-summary", with_body(swim::view_summary{128, {0, 127}, {1, 2}, {3, 4}})},
      {"v1-view-delta",
       with_body(swim::view_delta{{{record_c(), 9, member_state::failed}}, {0x1234, 0}})},
      {"v1-broadcast-pull", with_body(swim::broadcast_pull{"b", 0x2'0001, 300})},
      {"v1-news", news()},
      {"v1-flapping", flapping()},
      {"v1-old-grave",
       with_body(swim::view_delta{{{record_d(), 9, member_state::failed, 2, 3600}}, {}})},
      {"v1-metadata-pull", with_body(swim::metadata_pull{"d", 0x1'0002, 0x1234})},
      {"v1-metadata-push", with_body(swim::metadata_push{0x1234, std::string("\x00m", 2)})},
  };
  return all;
}

swim::packet from_b_alone() {
  swim::packet made;
  made.from.name = "b";
  made.from.epoch = 0x2'0001;
  return made;
}

/// A challenge that answers another one, filled up to 100 bytes.
bytes challenge() {
  codec with(cluster);
  bytes made;
  CHECK(with.encode_within(from_b_alone(), {0x0102'0304'0506'0708, 0xfffe'fdfc'fbfa'f9f8}, 100,
                           made));
  return made;
}

/// A ping as it was sealed with the key of 32 times 0x2a and the nonce 0, 1, 2, ...
bytes sealed_ping() {
  const auto body = raw_bytes(1, raw_bytes(1, "a") + raw_number(2, 5) + raw_fixed64(8, 77)) +
                    raw_bytes(4, raw_number(1, 1) + raw_bytes(2, "b"));
  wire::seal_nonce nonce;
  std::iota(nonce.begin(), nonce.end(), std::uint8_t{0});
  bytes made;
  wire::append_header(cluster, true, body.size() + wire::seal_size, made);
  const std::size_t header_size = made.size();
  made.resize(header_size + body.size() + wire::seal_size);
  const auto payload = std::span(made).subspan(header_size);
  std::copy(body.begin(), body.end(), payload.begin() + wire::nonce_size);
  wire::seal_payload(*test_key(0x2a), nonce, wire::bytes_view(made).first(header_size), payload);
  return made;
}

/// A packet of the next version, as its rule allows: fields that we don't know in every message,
/// and the word that readers of version 1 will do.
bytes from_a_newer_node() {
  const auto later = raw_number(14, 5) + raw_bytes(99, "later");
  const auto address = raw_bytes(4, raw_bytes(1, std::string("\x0a\x00\x00\x02", 4)));
  const auto record = raw_bytes(1, "b") + address + raw_number(5, 1000) + later;
  const auto body = raw_bytes(1, raw_bytes(1, "a") + later) +
                    raw_bytes(2, raw_bytes(2, record) + raw_bytes(99, "later")) +
                    raw_bytes(4, raw_number(1, 1) + raw_bytes(2, "b") + later) +
                    raw_bytes(120, "a new part of packets");
  auto made = in_envelope(cluster, body);
  made[2] = wire::protocol_version + 1;
  return made;
}

}  // namespace

TEST_CASE("Recorded bytes decode to the packets that they were", "[wire][golden]") {
  codec with(cluster);
  swim::packet received;
  for (const auto& [name, packet] : packets()) {
    INFO(name);
    REQUIRE(with.decode(read_golden(name), received) == decode_error::none);
    CHECK((received == packet));
  }
}

TEST_CASE("Packets encode to the bytes that were recorded", "[wire][golden]") {
  codec with(cluster);
  for (const auto& [name, packet] : packets()) {
    INFO(name);
    bytes out;
    with.encode(packet, out);
    CHECK(to_hex(out) == to_hex(read_golden(name)));
  }
}

TEST_CASE("A recorded sealed packet opens, and is sealed to the same bytes",
          "[wire][golden][seal]") {
  const auto recorded = read_golden("v1-sealed-ping");
  CHECK(to_hex(sealed_ping()) == to_hex(recorded));
  const std::vector<wire::key_ptr> keys{test_key(0x2a)};
  codec with(cluster, std::make_shared<wire::keyring>(wire::seal_mode::require, keys));
  swim::packet received;
  REQUIRE(with.decode(recorded, received) == decode_error::none);
  CHECK(received.from.epoch == 5);
  CHECK(std::get<swim::ping>(received.body).target == "b");
  CHECK(with.decode(recorded, received) == decode_error::repeated);
}

TEST_CASE("A recorded challenge is understood, and encodes to the same bytes", "[wire][golden]") {
  const auto recorded = read_golden("v1-challenge");
  CHECK(to_hex(challenge()) == to_hex(recorded));
  codec with(cluster);
  swim::packet received;
  REQUIRE(with.decode(recorded, received) == decode_error::none);
  CHECK((received == from_b_alone()));
  CHECK(with.last_receipt().proof.challenge == 0x0102'0304'0506'0708);
  CHECK(with.last_receipt().proof.echo == 0xfffe'fdfc'fbfa'f9f8);
}

TEST_CASE("A newer node is understood, and a relay passes on what it doesn't know", "[wire]") {
  codec with(cluster);
  swim::packet received;
  const auto newer = from_a_newer_node();
  CHECK(to_hex(newer) == to_hex(read_golden("v2-newer-node")));
  REQUIRE(with.decode(newer, received) == decode_error::none);
  CHECK(std::get<swim::ping>(received.body).target == "b");
  REQUIRE(received.updates.size() == 1);
  const auto first = received.updates[0].subject;
  CHECK(first->name == "b");
  CHECK(*first->unknown_fields == raw_number(14, 5) + raw_bytes(99, "later"));

  bytes relayed;
  with.encode(received, relayed);
  REQUIRE(with.decode(relayed, received) == decode_error::none);
  CHECK((*received.updates[0].subject == *first));
}

// Writes the files that aren't there yet; run by name after adding a packet to the list.
TEST_CASE("Record golden bytes", "[.record]") {
  codec with(cluster);
  const auto record = [](const std::string& name, const bytes& content) {
    if (std::ifstream(path_of(name))) return;
    std::ofstream(path_of(name)) << "# cluster id \"" << cluster << "\"\n" << to_hex(content);
  };
  for (const auto& [name, packet] : packets()) {
    bytes out;
    with.encode(packet, out);
    record(name, out);
  }
  record("v1-challenge", challenge());
  record("v1-sealed-ping", sealed_ping());
  record("v2-newer-node", from_a_newer_node());
}
