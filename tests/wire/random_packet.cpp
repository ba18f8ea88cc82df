#include "wire/random_packet.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lifering::wire::testing {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

class maker {
 public:
  maker(base::rng& random, extent size) : random_(random), size_(size) {}

  swim::packet packet() {
    swim::packet made;
    made.from = sender();
    made.body = body();
    const std::uint64_t most = size_ == extent::small ? 4 : 40;
    for (auto left = random_.below(most); left != 0; --left)
      made.updates.push_back(update());
    if (random_.chance(1, 4)) made.broadcasts.push_back(broadcast());
    return made;
  }

 private:
  std::uint64_t number() {
    constexpr std::array<std::uint64_t, 10> extremes{0,
                                                     1,
                                                     127,
                                                     128,
                                                     16383,
                                                     16384,
                                                     0xffffffff,
                                                     0x7fffffffffffffff,
                                                     0x8000000000000000,
                                                     0xffffffffffffffff};
    switch (random_.below(3)) {
      case 0:
        return extremes[random_.below(extremes.size())];
      case 1:
        return random_.next() >> random_.below(64);
      default:
        return random_.below(200);
    }
  }

  std::uint32_t number32() { return static_cast<std::uint32_t>(number()); }

  /// Up to `limit` bytes; often empty, short or exactly at the limit.
  std::string text(std::size_t limit) {
    constexpr std::array hostile{"\0"sv,          "\xff\xfe"sv, "a\0b"sv, "../../etc/passwd"sv,
                                 "\xc0\x80"sv,    "%s%n"sv,     "\n\r"sv, "\x1b[2J"sv,
                                 "\xed\xa0\x80"sv};
    std::size_t size = random_.below(std::min<std::size_t>(limit, 30) + 1);
    if (size_ == extent::hostile && random_.chance(1, 8)) size = limit;
    if (size_ == extent::hostile && random_.chance(1, 8)) size = random_.below(limit + 1);
    std::string made;
    if (random_.chance(1, 3)) made = hostile[random_.below(hostile.size())].substr(0, limit);
    while (made.size() < size)
      made.push_back(static_cast<char>(random_.next()));
    return made;
  }

  std::string name() {
    std::string made = text(swim::name_max);
    return made.empty() ? "n" : made;
  }

  endpoint address() {
    endpoint made;
    if (random_.chance(1, 2)) {
      made = endpoint::v4({10, 0, 0, static_cast<std::uint8_t>(random_.next())}, 0);
    } else {
      for (auto& byte : made.bytes)
        byte = static_cast<std::uint8_t>(random_.next());
      if (!made.is_v4()) made.scope = number32();
    }
    made.port = static_cast<std::uint16_t>(number());
    return made;
  }

  /// Fields that this version doesn't know: numbers from 10 upwards, of every wire type.
  std::string unknown_fields() {
    std::string made;
    if (random_.chance(2, 3)) return made;
    made += "\x50\x07";                        // 10: the varint 7.
    made += "\x5a\x03"s + "new";               // 11: three bytes.
    made += "\x61"s + std::string(8, '\x11');  // 12: a fixed64.
    made += "\x6d"s + std::string(4, '\x22');  // 13: a fixed32.
    if (size_ == extent::hostile && random_.chance(1, 3)) {
      const std::size_t size = swim::unknown_fields_max - made.size() - 3;
      made += '\x72';  // 14: as many bytes as are allowed.
      made += static_cast<char>((size & 127) | 128);
      made += static_cast<char>(size >> 7);
      made += std::string(size, 'u');
    }
    return made;
  }

  swim::record_ptr record() {
    auto made = std::make_shared<swim::record>();
    made->name = name();
    made->epoch = number();
    made->incarnation = number();
    made->address = address();
    made->weight =
        weight::from_thousandths(random_.chance(1, 4) ? 0 : 10 + random_.below(99'991)).value();
    made->phase = static_cast<member_phase>(random_.below(3));
    made->zone = text(swim::zone_max);
    made->service = text(swim::service_max);
    made->metadata = text(size_ == extent::small ? 64 : swim::metadata_max);
    if (random_.chance(1, 3)) made->metadata_hash = number();
    if (random_.chance(1, 4)) made->broadcasts = number();
    made->unknown_fields = unknown_fields();
    return made;
  }

  swim::sender sender() {
    return {name(), number(), number(), number(), number(), number(), number()};
  }

  swim::body body() {
    switch (random_.below(16)) {
      case 0:
        return swim::ping{number(), text(swim::name_max), number()};
      case 1:
        return swim::ping_request{number(), text(swim::name_max), number(), address(), number32()};
      case 2:
        return swim::ack{number()};
      case 3:
        return swim::nack{number()};
      case 4:
        return swim::sync_request{random_.chance(1, 2), random_.chance(1, 2)};
      case 5:
        return swim::sync_reply{number(), address()};
      case 6:
        return view_rows();
      case 7:
        return swim::refusal{static_cast<swim::refusal_reason>(random_.below(8)),
                             text(swim::name_max)};
      case 8:
        return swim::user_message{number(), text(size_ == extent::small ? 100 : 70'000)};
      case 9:
        return swim::view_compare{numbers(std::size_t{1} << random_.below(8))};
      case 10:
        return view_summary();
      case 11:
        return swim::view_delta{rows(), numbers(random_.below(100))};
      case 12:
        return swim::broadcast_pull{name(), number(), number()};
      case 13:
        return swim::metadata_pull{name(), number(), number()};
      case 14:
        return swim::metadata_push{number(), text(swim::metadata_max)};
      default:
        return std::monostate{};
    }
  }

  std::vector<swim::view_row> rows() {
    std::vector<swim::view_row> made;
    for (auto left = random_.below(size_ == extent::small ? 5 : 60); left != 0; --left) {
      made.push_back({record(), number(), static_cast<member_state>(random_.below(4)), number32(),
                      number32()});
    }
    return made;
  }

  swim::view_rows view_rows() { return {rows(), random_.chance(1, 2)}; }

  std::vector<std::uint64_t> numbers(std::size_t count) {
    std::vector<std::uint64_t> made(count);
    for (auto& each : made)
      each = number();
    return made;
  }

  swim::view_summary view_summary() {
    swim::view_summary made;
    made.bucket_count = std::uint32_t{1} << random_.below(8);
    for (std::uint32_t bucket = 0; bucket < made.bucket_count; ++bucket) {
      if (random_.chance(1, 3)) made.buckets.push_back(bucket);
    }
    made.names = numbers(random_.below(size_ == extent::small ? 5 : 2'000));
    made.digests = numbers(made.names.size());
    return made;
  }

  swim::update update() {
    swim::update made;
    made.kind = static_cast<swim::update_kind>(random_.below(4));
    if (made.kind == swim::update_kind::alive) {
      made.subject = record();
      made.incarnation = made.subject->incarnation;
      return made;
    }
    if (random_.chance(1, 2)) {
      made.subject = record();
    } else {
      made.name = name();
      made.epoch = number();
    }
    made.incarnation = number();
    made.accuser = text(swim::name_max);
    made.accuser_epoch = number();
    made.refused = random_.chance(1, 2);
    made.witnesses = number32();
    if (random_.chance(1, 2)) made.failures = number32();
    return made;
  }

  swim::broadcast broadcast() {
    return {name(), number(), number(), text(size_ == extent::small ? 100 : 70'000)};
  }

  base::rng& random_;
  extent size_;
};

}  // namespace

swim::packet random_packet(base::rng& random, extent size) {
  return maker(random, size).packet();
}

swim::packet as_received(swim::packet sent) {
  for (auto& update : sent.updates) {
    if (update.kind == swim::update_kind::alive || !update.subject) continue;
    update.name = update.subject->name;
    update.epoch = update.subject->epoch;
    update.subject.reset();
  }
  return sent;
}

}  // namespace lifering::wire::testing
