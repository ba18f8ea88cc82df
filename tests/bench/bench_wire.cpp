// What it costs to put a full datagram on the wire and to take it off again.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "wire/codec.hpp"

namespace {

namespace swim = lifering::swim;
namespace wire = lifering::wire;

constexpr std::size_t datagram = 1400;

enum class content : std::uint8_t {
  suspicions,  ///< Short items, which is the most work for a datagram.
  records,     ///< Members with metadata, each a value of its own in the receiver.
};

swim::update news(content kind, std::uint64_t number) {
  swim::update made;
  if (kind == content::suspicions) {
    made.kind = swim::update_kind::suspect;
    made.name = "cache-" + std::to_string(number);
    made.epoch = 0x1'0000 + number;
    made.incarnation = 3;
    made.accuser = "cache-7";
    made.accuser_epoch = 0x1'0007;
    return made;
  }
  auto record = std::make_shared<swim::record>();
  record->name = "cache-" + std::to_string(number);
  record->epoch = 0x1'0000 + number;
  record->incarnation = 3;
  record->address = lifering::endpoint::v4({10, 0, 0, 7}, 7946);
  record->service = "10.0.0.7:8080";
  record->metadata = std::string(64, 'm');
  made.incarnation = record->incarnation;
  made.subject = std::move(record);
  return made;
}

/// A ping filled with news up to the limit.
swim::packet full_packet(content kind, std::size_t budget) {
  swim::packet made;
  made.from = {"cache-12", 0x1'000c, 4, 1, 2, 3, 50};
  made.body = swim::ping{17, "cache-13", 0x1'000d};
  for (std::uint64_t i = 0;; ++i) {
    const auto next = news(kind, i);
    if (swim::size_bound(made) + swim::size_bound(next) > budget) return made;
    made.updates.push_back(next);
  }
}

wire::codec make_codec(bool sealed) {
  if (!sealed) return wire::codec("production");
  std::array<std::uint8_t, wire::secret_key::size> bytes{};
  const std::vector<wire::key_ptr> keys{wire::secret_key::from_bytes(bytes)};
  return wire::codec("production", std::make_shared<wire::keyring>(wire::seal_mode::require, keys));
}

void encode(benchmark::State& state, content kind, bool sealed) {
  auto with = make_codec(sealed);
  const auto packet = full_packet(kind, datagram - with.overhead());
  std::vector<std::uint8_t> out;
  for (auto _ : state) {
    out.clear();
    with.encode(packet, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["bytes"] = static_cast<double>(out.size());
  state.counters["updates"] = static_cast<double>(packet.updates.size());
}

void decode(benchmark::State& state, content kind, bool sealed) {
  auto with = make_codec(sealed);
  const auto packet = full_packet(kind, datagram - with.overhead());
  // Enough different packets that none comes twice in a round; a new receiver for each round.
  std::vector<std::vector<std::uint8_t>> sent(4'000);
  for (auto& each : sent)
    with.encode(packet, each);
  auto receiver = make_codec(sealed);
  swim::packet received;
  std::size_t next = 0;
  for (auto _ : state) {
    if (next == sent.size()) {
      state.PauseTiming();
      receiver = make_codec(sealed);
      next = 0;
      state.ResumeTiming();
    }
    LIFERING_CHECK(receiver.decode(sent[next++], received) == wire::decode_error::none);
  }
  state.counters["bytes"] = static_cast<double>(sent.front().size());
}

BENCHMARK_CAPTURE(encode, suspicions_plain, content::suspicions, false);
BENCHMARK_CAPTURE(encode, suspicions_sealed, content::suspicions, true);
BENCHMARK_CAPTURE(encode, records_plain, content::records, false);
BENCHMARK_CAPTURE(encode, records_sealed, content::records, true);
BENCHMARK_CAPTURE(decode, suspicions_plain, content::suspicions, false);
BENCHMARK_CAPTURE(decode, suspicions_sealed, content::suspicions, true);
BENCHMARK_CAPTURE(decode, records_plain, content::records, false);
BENCHMARK_CAPTURE(decode, records_sealed, content::records, true);

}  // namespace

BENCHMARK_MAIN();
