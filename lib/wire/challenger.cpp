#include "wire/challenger.hpp"

#include <sodium.h>

#include "base/check.hpp"

namespace lifering::wire {
namespace {

void append_number(crypto_generichash_state& to, std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes{};
  for (auto& byte : bytes) {
    byte = static_cast<std::uint8_t>(value);
    value >>= 8;
  }
  crypto_generichash_update(&to, bytes.data(), bytes.size());
}

}  // namespace

challenger::challenger() {
  LIFERING_CHECK(sodium_init() >= 0);
  randombytes_buf(secret_.data(), secret_.size());
}

challenger::~challenger() {
  sodium_memzero(secret_.data(), secret_.size());
}

std::uint64_t challenger::number_for(std::string_view name, std::uint64_t epoch, const endpoint& at,
                                     std::uint64_t period) const {
  crypto_generichash_state state;
  std::array<std::uint8_t, crypto_generichash_BYTES_MIN> hash{};
  crypto_generichash_init(&state, secret_.data(), secret_.size(), hash.size());
  append_number(state, period);
  append_number(state, epoch);
  append_number(state, at.port | std::uint64_t{at.scope} << 16);
  crypto_generichash_update(&state, at.bytes.data(), at.bytes.size());
  // Last, since it alone has a length of its own.
  crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(name.data()),
                            name.size());
  crypto_generichash_final(&state, hash.data(), hash.size());
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i)
    number = number << 8 | hash[i];
  number -= number % 2;
  return number == 0 ? 2 : number;
}

bool challenger::is_echo(std::uint64_t echo, std::string_view name, std::uint64_t epoch,
                         const endpoint& at, std::uint64_t period) const {
  return echo != 0 && (echo == number_for(name, epoch, at, period) ||
                       echo == number_for(name, epoch, at, period - 1));
}

std::uint64_t challenger::draw() {
  LIFERING_CHECK(sodium_init() >= 0);
  std::uint64_t number = 0;
  randombytes_buf(&number, sizeof number);
  return number | 1;
}

}  // namespace lifering::wire
