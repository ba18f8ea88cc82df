#include "sim/trace.hpp"

#include <cstdio>
#include <lifering/hash.hpp>

#include "ring/mix64.hpp"

namespace lifering::sim {

void trace::note(node_id node, std::uint64_t kind, std::uint64_t value) {
  using ring_detail::mix64;
  const auto time = static_cast<std::uint64_t>(clock_.elapsed().count());
  hash_ = mix64(hash_ ^ mix64(time * 0x9e37'79b9'7f4a'7c15U + node)) + mix64(value + kind);
}

void trace::note(node_id node, std::uint64_t kind, std::span<const std::uint8_t> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  note(node, kind, (std::uint64_t{bytes.size()} << 32) | crc32({text, bytes.size()}));
}

void trace::line(node_id node, std::string_view text) const {
  char stamp[48];
  const auto microseconds = clock_.elapsed().count() / 1000;
  std::snprintf(stamp, sizeof stamp, "%8lld.%06lld %5u  ",
                static_cast<long long>(microseconds / 1'000'000),
                static_cast<long long>(microseconds % 1'000'000), node);
  lines_(std::string(stamp).append(text));
}

}  // namespace lifering::sim
