// The networks that a member hears and speaks to.
#pragma once

#include <array>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <lifering/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lifering::net {

/// An IPv4 or IPv6 network; IPv4 as the v4-mapped part of IPv6, so that there is one form for one
/// address and a v4-mapped one can't slip past.
struct network {
  std::array<std::uint8_t, 16> bytes{};
  unsigned prefix = 0;  ///< Bits that count, of all 128.

  /// `10.0.0.0/8`, `2001:db8::/32`, or an address alone. Bits beyond the prefix must be 0, since
  /// whoever sets them means another network than they write.
  static std::optional<network> parse(std::string_view text);

  bool contains(const endpoint& address) const noexcept;
};

/// Empty: all networks.
class allow_list {
 public:
  allow_list() = default;

  /// What is wrong with one of the texts, in one sentence, or nothing.
  static std::optional<problem> read(const std::vector<std::string>& texts, allow_list& out);

  bool allows(const endpoint& address) const noexcept;
  bool allows_all() const noexcept { return networks_.empty(); }

 private:
  std::vector<network> networks_;
};

}  // namespace lifering::net
