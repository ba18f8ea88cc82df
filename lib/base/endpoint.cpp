#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <lifering/endpoint.hpp>

namespace lifering {
namespace {

constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Splits off `:PORT`. An unbracketed text with several colons is an IPv6 address without one.
bool split_port(std::string_view& host, std::uint16_t& port) {
  if (!host.empty() && host.front() == '[') {
    const auto close = host.find(']');
    if (close == std::string_view::npos) return false;
    const auto rest = host.substr(close + 1);
    host = host.substr(1, close - 1);
    if (host.find(':') == std::string_view::npos) return false;  // brackets are for IPv6
    return rest.empty() || (rest.front() == ':' && parse_number(rest.substr(1), port));
  }
  const auto colon = host.find(':');
  if (colon == std::string_view::npos || host.find(':', colon + 1) != std::string_view::npos) {
    return true;
  }
  const auto digits = host.substr(colon + 1);
  host = host.substr(0, colon);
  return parse_number(digits, port);
}

}  // namespace

std::optional<endpoint> endpoint::parse(std::string_view text, std::uint16_t default_port) {
  endpoint result;
  result.port = default_port;
  if (!split_port(text, result.port)) return std::nullopt;
  if (const auto percent = text.find('%'); percent != std::string_view::npos) {
    if (!parse_number(text.substr(percent + 1), result.scope)) return std::nullopt;
    text = text.substr(0, percent);
  }
  char buffer[INET6_ADDRSTRLEN] = {};
  if (text.empty() || text.size() >= sizeof buffer) return std::nullopt;
  text.copy(buffer, text.size());
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  if (inet_pton(AF_INET, buffer, result.bytes.data() + v4_prefix.size()) == 1) {
    if (result.scope != 0) return std::nullopt;
    std::copy(v4_prefix.begin(), v4_prefix.end(), result.bytes.begin());
    return result;
  }
  if (inet_pton(AF_INET6, buffer, result.bytes.data()) != 1) return std::nullopt;
  // Elsewhere a scope would make a second identity of one address.
  const bool link_local = result.bytes[0] == 0xfe && (result.bytes[1] & 0xc0) == 0x80;
  if (result.scope != 0 && !link_local) return std::nullopt;
  return result;
}

endpoint endpoint::v4(std::array<std::uint8_t, 4> address, std::uint16_t port) {
  endpoint result;
  std::copy(v4_prefix.begin(), v4_prefix.end(), result.bytes.begin());
  std::copy(address.begin(), address.end(), result.bytes.begin() + v4_prefix.size());
  result.port = port;
  return result;
}

bool endpoint::is_v4() const noexcept {
  return std::equal(v4_prefix.begin(), v4_prefix.end(), bytes.begin());
}

bool endpoint::is_unspecified() const noexcept {
  const auto from = bytes.begin() + (is_v4() ? 12 : 0);
  return std::all_of(from, bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

bool endpoint::is_loopback() const noexcept {
  if (is_v4()) return bytes[12] == 127;
  return bytes[15] == 1 &&
         std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t byte) { return byte == 0; });
}

bool endpoint::is_multicast() const noexcept {
  return is_v4() ? (bytes[12] & 0xf0) == 0xe0 : bytes[0] == 0xff;
}

std::string endpoint::to_string() const {
  char buffer[INET6_ADDRSTRLEN] = {};
  if (is_v4()) {
    inet_ntop(AF_INET, bytes.data() + v4_prefix.size(), buffer, sizeof buffer);
    return std::string(buffer) + ':' + std::to_string(port);
  }
  inet_ntop(AF_INET6, bytes.data(), buffer, sizeof buffer);
  std::string text = "[" + std::string(buffer);
  if (scope != 0) text += '%' + std::to_string(scope);
  return text + "]:" + std::to_string(port);
}

}  // namespace lifering
