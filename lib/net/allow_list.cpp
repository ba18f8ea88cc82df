#include "net/allow_list.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace lifering::net {
namespace {

constexpr unsigned mapped_bits = 96;  // What stands before an IPv4 address in its IPv6 form.

/// An address without port, brackets or scope.
std::optional<endpoint> parse_address(std::string_view text) {
  if (text.find_first_of("[]%") != std::string_view::npos) return std::nullopt;
  const bool is_v6 = text.find(':') != std::string_view::npos;
  return endpoint::parse(is_v6 ? '[' + std::string(text) + ']' : std::string(text), 1);
}

bool is_bit_set(const std::array<std::uint8_t, 16>& bytes, unsigned bit) {
  return (bytes[bit / 8] >> (7 - bit % 8) & 1) != 0;
}

}  // namespace

std::optional<network> network::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  network result;
  result.bytes = address->bytes;
  // `::ffff:0:0/96` is written in IPv6 and means all of IPv4, so its prefix counts from the front.
  const bool counts_from_v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  const unsigned before = counts_from_v4 ? mapped_bits : 0;
  result.prefix = 128;
  if (slash != std::string_view::npos) {
    const auto digits = text.substr(slash + 1);
    unsigned bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.size() > 3 ||
        bits > 128 - before) {
      return std::nullopt;
    }
    result.prefix = before + bits;
  }
  for (unsigned bit = result.prefix; bit < 128; ++bit) {
    if (is_bit_set(result.bytes, bit)) return std::nullopt;
  }
  return result;
}

bool network::contains(const endpoint& address) const noexcept {
  // All of IPv6 is not all of IPv4, though the one's addresses hold the other's.
  if (prefix < mapped_bits && address.is_v4()) return false;
  const unsigned whole = prefix / 8;
  if (!std::equal(bytes.begin(), bytes.begin() + whole, address.bytes.begin())) return false;
  const unsigned rest = prefix % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff00U >> rest);
  return ((bytes[whole] ^ address.bytes[whole]) & mask) == 0;
}

std::optional<problem> allow_list::read(const std::vector<std::string>& texts, allow_list& out) {
  allow_list result;
  for (const auto& text : texts) {
    const auto parsed = network::parse(text);
    if (!parsed) {
      return problem{errc::invalid_address,
                     base::quoted(text) +
                         " is no network; 10.0.0.0/8, 2001:db8::/32 or an address alone "
                         "would be right, with no bit set beyond the prefix"};
    }
    result.networks_.push_back(*parsed);
  }
  out = std::move(result);
  return std::nullopt;
}

bool allow_list::allows(const endpoint& address) const noexcept {
  return networks_.empty() ||
         std::any_of(networks_.begin(), networks_.end(),
                     [&](const network& each) { return each.contains(address); });
}

}  // namespace lifering::net
