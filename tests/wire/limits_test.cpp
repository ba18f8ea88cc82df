// What a peer may write into a well-formed body and is refused for.
#include <string>

#include "support/catch.hpp"
#include "wire/codec.hpp"
#include "wire/raw.hpp"

using lifering::wire::codec;
using lifering::wire::decode_error;
namespace swim = lifering::swim;
namespace wire = lifering::wire;
using namespace lifering::wire::testing;  // raw_*

namespace {

// Field numbers of lifering.proto.
constexpr unsigned sender_field = 1;
constexpr unsigned updates_field = 2;
constexpr unsigned broadcasts_field = 3;
constexpr unsigned ping_field = 4;
constexpr unsigned ping_request_field = 5;
constexpr unsigned ack_field = 6;
constexpr unsigned sync_reply_field = 9;
constexpr unsigned view_rows_field = 10;
constexpr unsigned refusal_field = 11;
constexpr unsigned user_message_field = 12;
constexpr unsigned view_compare_field = 13;
constexpr unsigned view_summary_field = 14;
constexpr unsigned view_delta_field = 15;

const std::string sender = raw_bytes(sender_field, raw_bytes(1, "sender"));

decode_error outcome(const std::string& body) {
  codec with("c");
  swim::packet received;
  return with.decode(in_envelope("c", body), received);
}

decode_error outcome_beside_sender(unsigned field, const std::string& content) {
  return outcome(sender + raw_bytes(field, content));
}

/// A record of name, address and whatever else.
std::string record(const std::string& rest = {}, const std::string& name = "n",
                   const std::string& address = std::string(4, '\1')) {
  return raw_bytes(1, name) + raw_bytes(4, raw_bytes(1, address)) + rest;
}

decode_error outcome_of_record(const std::string& record) {
  const auto as_update = outcome_beside_sender(updates_field, raw_bytes(2, record));
  const auto as_row = outcome_beside_sender(view_rows_field, raw_bytes(1, raw_bytes(1, record)));
  CHECK(as_update == as_row);
  return as_update;
}

std::string of_size(std::size_t size) {
  return std::string(size, 'x');
}

}  // namespace

TEST_CASE("A packet needs a sender with a name", "[wire]") {
  CHECK(outcome(sender) == decode_error::none);
  CHECK(outcome("") == decode_error::bad_field);
  CHECK(outcome(raw_bytes(sender_field, raw_number(2, 5))) == decode_error::bad_field);
  CHECK(outcome(raw_bytes(sender_field, raw_bytes(1, of_size(255)))) == decode_error::none);
  CHECK(outcome(raw_bytes(sender_field, raw_bytes(1, of_size(256)))) == decode_error::over_limit);
}

TEST_CASE("A packet has at most one body", "[wire]") {
  const auto ping = raw_bytes(ping_field, raw_number(1, 1));
  const auto ack = raw_bytes(ack_field, raw_number(1, 1));
  CHECK(outcome(sender + ping) == decode_error::none);
  CHECK(outcome(sender + ping + ack) == decode_error::bad_field);
}

TEST_CASE("A body that isn't Protobuf is refused", "[wire]") {
  CHECK(outcome(sender + "\x0f") == decode_error::malformed_body);
  CHECK(outcome(sender + "\x12\x7f" + "short") == decode_error::malformed_body);
}

TEST_CASE("A record's texts are limited", "[wire]") {
  CHECK(outcome_of_record(record()) == decode_error::none);
  CHECK(outcome_of_record(record("", "")) == decode_error::bad_field);
  CHECK(outcome_of_record(record("", of_size(255))) == decode_error::none);
  CHECK(outcome_of_record(record("", of_size(256))) == decode_error::over_limit);
  CHECK(outcome_of_record(record(raw_bytes(7, of_size(64)))) == decode_error::none);
  CHECK(outcome_of_record(record(raw_bytes(7, of_size(65)))) == decode_error::over_limit);
  CHECK(outcome_of_record(record(raw_bytes(8, of_size(255)))) == decode_error::none);
  CHECK(outcome_of_record(record(raw_bytes(8, of_size(256)))) == decode_error::over_limit);
  CHECK(outcome_of_record(record(raw_bytes(9, of_size(16384)))) == decode_error::none);
  CHECK(outcome_of_record(record(raw_bytes(9, of_size(16385)))) == decode_error::over_limit);
}

TEST_CASE("A record's unknown fields are limited in sum", "[wire]") {
  CHECK(outcome_of_record(record(raw_bytes(100, of_size(1020)))) == decode_error::none);
  CHECK(outcome_of_record(record(raw_bytes(100, of_size(1021)))) == decode_error::over_limit);
  std::string many;
  for (int i = 0; i < 342; ++i)
    many += raw_number(100, 1);
  CHECK(outcome_of_record(record(many)) == decode_error::over_limit);
}

TEST_CASE("A weight is 0 or from 0.01 to 100", "[wire]") {
  const auto outcome_of_weight = [](std::uint64_t thousandths) {
    return outcome_of_record(record(raw_number(5, thousandths)));
  };
  CHECK(outcome_of_weight(0) == decode_error::none);
  CHECK(outcome_of_weight(1) == decode_error::bad_field);
  CHECK(outcome_of_weight(9) == decode_error::bad_field);
  CHECK(outcome_of_weight(10) == decode_error::none);
  CHECK(outcome_of_weight(100'000) == decode_error::none);
  CHECK(outcome_of_weight(100'001) == decode_error::bad_field);
  CHECK(outcome_of_weight(0xffffffff) == decode_error::bad_field);
}

TEST_CASE("Enumerations hold values that this version knows", "[wire]") {
  CHECK(outcome_of_record(record(raw_number(6, 2))) == decode_error::none);
  CHECK(outcome_of_record(record(raw_number(6, 3))) == decode_error::bad_field);
  CHECK(outcome_of_record(record(raw_number(6, 0xffffffff))) == decode_error::bad_field);
  const auto row = [](std::uint64_t state) {
    return outcome_beside_sender(view_rows_field,
                                 raw_bytes(1, raw_bytes(1, record()) + raw_number(3, state)));
  };
  CHECK(row(3) == decode_error::none);
  CHECK(row(4) == decode_error::bad_field);
  const auto update = [](std::uint64_t kind) {
    return outcome_beside_sender(updates_field, raw_number(1, kind) + raw_bytes(3, "n"));
  };
  CHECK(update(3) == decode_error::none);
  CHECK(update(4) == decode_error::bad_field);
  CHECK(update(UINT64_MAX) == decode_error::bad_field);
  CHECK(outcome_beside_sender(refusal_field, raw_number(1, 7)) == decode_error::none);
  CHECK(outcome_beside_sender(refusal_field, raw_number(1, 8)) == decode_error::bad_field);
}

TEST_CASE("An address has 4 or 16 bytes and a port of 16 bits, wherever it stands", "[wire]") {
  const auto outcome_of_address = [](const std::string& address) {
    const auto in_record = outcome_of_record(raw_bytes(1, "n") + raw_bytes(4, address));
    CHECK(outcome_beside_sender(ping_request_field, raw_bytes(4, address)) == in_record);
    CHECK(outcome_beside_sender(sync_reply_field, raw_bytes(2, address)) == in_record);
    return in_record;
  };
  for (std::size_t size = 0; size < 20; ++size) {
    const bool is_good = size == 4 || size == 16;
    CHECK(outcome_of_address(raw_bytes(1, of_size(size))) ==
          (is_good ? decode_error::none : decode_error::bad_field));
  }
  CHECK(outcome_of_address("") == decode_error::bad_field);
  CHECK(outcome_of_address(raw_bytes(1, of_size(4)) + raw_number(2, 65'535)) == decode_error::none);
  CHECK(outcome_of_address(raw_bytes(1, of_size(4)) + raw_number(2, 65'536)) ==
        decode_error::bad_field);
  CHECK(outcome_of_address(raw_bytes(1, of_size(4)) + raw_number(3, 1)) == decode_error::bad_field);
  CHECK(outcome_of_address(raw_bytes(1, of_size(16)) + raw_number(3, 1)) == decode_error::none);
}

TEST_CASE("A v4-mapped address arrives as the IPv4 address that it is", "[wire]") {
  codec with("c");
  swim::packet received;
  const auto mapped = std::string(10, '\0') + "\xff\xff" + "\x0a\x01\x02\x03";
  const auto body = sender + raw_bytes(sync_reply_field, raw_bytes(2, raw_bytes(1, mapped)));
  REQUIRE(with.decode(in_envelope("c", body), received) == decode_error::none);
  CHECK(std::get<swim::sync_reply>(received.body).seen_address ==
        lifering::endpoint::v4({10, 1, 2, 3}, 0));
}

TEST_CASE("A claim is about somebody", "[wire]") {
  const auto outcome_of_update = [](const std::string& content) {
    return outcome_beside_sender(updates_field, content);
  };
  const auto suspect = raw_number(1, 1);
  CHECK(outcome_of_update("") == decode_error::bad_field);
  CHECK(outcome_of_update(raw_bytes(3, "alive, but by name")) == decode_error::bad_field);
  CHECK(outcome_of_update(raw_bytes(2, record()) + raw_bytes(3, "n")) == decode_error::bad_field);
  CHECK(outcome_of_update(suspect) == decode_error::bad_field);
  CHECK(outcome_of_update(suspect + raw_bytes(2, record())) == decode_error::bad_field);
  CHECK(outcome_of_update(suspect + raw_bytes(3, "n")) == decode_error::none);
  CHECK(outcome_of_update(suspect + raw_bytes(3, of_size(256))) == decode_error::over_limit);
  CHECK(outcome_of_update(suspect + raw_bytes(3, "n") + raw_bytes(6, of_size(256))) ==
        decode_error::over_limit);
}

TEST_CASE("Targets, details and payloads are limited", "[wire]") {
  CHECK(outcome_beside_sender(ping_field, raw_bytes(2, of_size(256))) == decode_error::over_limit);
  CHECK(outcome_beside_sender(ping_request_field, raw_bytes(2, of_size(256)) +
                                                      raw_bytes(4, raw_bytes(1, of_size(4)))) ==
        decode_error::over_limit);
  CHECK(outcome_beside_sender(refusal_field, raw_bytes(2, of_size(256))) ==
        decode_error::over_limit);
  const auto largest = swim::user_payload_max;
  CHECK(outcome_beside_sender(user_message_field, raw_bytes(2, of_size(largest))) ==
        decode_error::none);
  CHECK(outcome_beside_sender(user_message_field, raw_bytes(2, of_size(largest + 1))) ==
        decode_error::over_limit);
  CHECK(outcome_beside_sender(broadcasts_field,
                              raw_bytes(1, "n") + raw_bytes(4, of_size(largest + 1))) ==
        decode_error::over_limit);
  CHECK(outcome_beside_sender(broadcasts_field, raw_bytes(4, "nobody's")) ==
        decode_error::bad_field);
}

TEST_CASE("The items of a packet are limited in number", "[wire]") {
  const auto update = raw_bytes(updates_field, raw_number(1, 1) + raw_bytes(3, "n"));
  const auto broadcast = raw_bytes(broadcasts_field, raw_bytes(1, "n"));
  const auto row = raw_bytes(1, raw_bytes(1, record()));
  std::string body = sender + broadcast;
  for (std::size_t i = 2; i < wire::items_max; ++i)
    body += update;
  CHECK(outcome(body + update) == decode_error::none);
  CHECK(outcome(body + raw_bytes(view_rows_field, row)) == decode_error::none);
  CHECK(outcome(body + update + broadcast) == decode_error::over_limit);
  CHECK(outcome(body + raw_bytes(view_rows_field, row + row)) == decode_error::over_limit);
}

TEST_CASE("A view is cut into a power of two of buckets, at most 128", "[wire]") {
  for (std::size_t count = 0; count < 300; ++count) {
    const bool is_good = count == 1 || count == 2 || count == 4 || count == 8 || count == 16 ||
                         count == 32 || count == 64 || count == 128;
    const auto expected = is_good ? decode_error::none : decode_error::bad_field;
    const auto buckets = raw_bytes(1, std::string(8 * count, '\5'));
    CHECK(outcome_beside_sender(view_compare_field, buckets) == expected);
    CHECK(outcome_beside_sender(view_summary_field, raw_number(1, count)) == expected);
  }
}

TEST_CASE("A summary lists buckets that there are, and a digest for each name", "[wire]") {
  const auto outcome_of_summary = [](const std::string& buckets, std::size_t names,
                                     std::size_t digests) {
    return outcome_beside_sender(view_summary_field, raw_number(1, 4) + raw_bytes(2, buckets) +
                                                         raw_bytes(3, of_size(8 * names)) +
                                                         raw_bytes(4, of_size(8 * digests)));
  };
  CHECK(outcome_of_summary("\x01\x02\x03", 2, 2) == decode_error::none);
  CHECK(outcome_of_summary("\x04", 2, 2) == decode_error::bad_field);
  CHECK(outcome_of_summary("\x01\x01\x01\x01\x01", 2, 2) == decode_error::over_limit);
  CHECK(outcome_of_summary("", 2, 1) == decode_error::bad_field);
  CHECK(outcome_of_summary("", 8'192, 8'192) == decode_error::none);
  CHECK(outcome_of_summary("", 8'193, 8'193) == decode_error::over_limit);
}

TEST_CASE("What a delta wants is limited in number, and its rows are items", "[wire]") {
  const auto row = raw_bytes(1, raw_bytes(1, record()));
  CHECK(outcome_beside_sender(view_delta_field, row + raw_bytes(2, of_size(8 * 8'192))) ==
        decode_error::none);
  CHECK(outcome_beside_sender(view_delta_field, raw_bytes(2, of_size(8 * 8'193))) ==
        decode_error::over_limit);
  std::string many;
  for (std::size_t i = 0; i <= wire::items_max; ++i)
    many += row;
  CHECK(outcome_beside_sender(view_delta_field, many) == decode_error::over_limit);
}
