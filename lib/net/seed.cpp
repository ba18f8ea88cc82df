#include "net/seed.hpp"

#include <algorithm>
#include <charconv>

#include "net/address.hpp"
#include "net/name_service.hpp"

namespace lifering::net {
namespace {

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

/// A name that a resolver may be asked for. Digits and dots alone are a mistyped address, which
/// some resolvers would read in a way that nobody meant (`1.2.3` as 1.2.0.3).
bool is_host_name(std::string_view text) {
  constexpr std::size_t name_max = 253;  // RFC 1035, as text
  if (text.empty() || text.size() > name_max || text.front() == '-' || text.front() == '.') {
    return false;
  }
  return text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), is_host_character) &&
         std::any_of(text.begin(), text.end(),
                     [](char c) { return c != '.' && (c < '0' || c > '9'); });
}

/// `_service._protocol.name` (RFC 2782), without a port, which the records tell.
bool looks_like_service(std::string_view text) {
  const auto dot = text.find('.');
  return text.starts_with('_') && dot != std::string_view::npos &&
         text.substr(dot + 1).starts_with('_') && text.find(':') == std::string_view::npos;
}

}  // namespace

std::optional<seed> seed::parse(std::string_view text) {
  seed result;
  const bool has_prefix = text.starts_with(service_prefix);
  if (has_prefix || looks_like_service(text)) {
    if (has_prefix) text.remove_prefix(service_prefix.size());
    if (!is_host_name(text)) return std::nullopt;
    result.host = text;
    result.is_service = true;
    return result;
  }
  if (const auto address = endpoint::parse(text, default_port)) {
    if (address->port == 0 || address->is_unspecified() || address->is_multicast() ||
        is_broadcast(*address)) {
      return std::nullopt;
    }
    result.address = address;
    result.port = address->port;
    return result;
  }
  if (const auto colon = text.rfind(':'); colon != std::string_view::npos) {
    const auto digits = text.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
    if (error != std::errc{} || end != digits.data() + digits.size() || result.port == 0) {
      return std::nullopt;
    }
    text = text.substr(0, colon);
  }
  if (!is_host_name(text)) return std::nullopt;
  result.host = text;
  return result;
}

}  // namespace lifering::net
