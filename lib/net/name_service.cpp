// The system's getaddrinfo() knows hosts and nothing of services, and can't be told which server to
// ask; for those the stub resolver of the C library is used (resolver(3)).
#include "net/name_service.hpp"

#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/error.hpp>
#include <asio/ip/udp.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "net/address.hpp"
#include "net/dns_answer.hpp"

namespace lifering::net {
namespace {

std::error_code translate(int code) {
  switch (code) {
    case 0:
      return {};
    case EAI_AGAIN:
      return asio::error::host_not_found_try_again;
    case EAI_FAIL:
      return asio::error::no_recovery;
    case EAI_MEMORY:
      return std::make_error_code(std::errc::not_enough_memory);
    case EAI_SYSTEM:
      return {errno, std::system_category()};
    default:
      return asio::error::host_not_found;
  }
}

std::error_code ask_system(const std::string& host, std::vector<endpoint>& out) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;  // One row for each address instead of one for each protocol.
  addrinfo* head = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &head); code != 0) {
    return translate(code);
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(head, ::freeaddrinfo);
  for (const addrinfo* each = head; each != nullptr; each = each->ai_next) {
    asio::ip::udp::endpoint address;
    if (each->ai_addrlen > address.capacity()) continue;
    std::memcpy(address.data(), each->ai_addr, each->ai_addrlen);
    address.resize(each->ai_addrlen);
    out.push_back(from_asio(address));
  }
  return {};
}

/// The C library's resolver with settings of its own, so that threads don't share any.
class stub_resolver {
 public:
  explicit stub_resolver(const std::optional<endpoint>& server) : answer_(NS_MAXMSG) {
    is_ready_ = ::res_ninit(&state_) == 0;
    if (!is_ready_ || !server) return;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server->port);
    std::memcpy(&address.sin_addr, server->bytes.data() + 12, sizeof address.sin_addr);
    state_.nscount = 1;
    state_.nsaddr_list[0] = address;
    state_.retrans = 1;  // Seconds before it asks again.
    state_.retry = 3;
    // Names are whole: the system's search list is not for a server of its own.
    state_.options &= ~static_cast<unsigned long>(RES_DNSRCH | RES_DEFNAMES);
  }
  ~stub_resolver() {
    if (is_ready_) ::res_nclose(&state_);
  }
  stub_resolver(const stub_resolver&) = delete;
  stub_resolver& operator=(const stub_resolver&) = delete;

  std::error_code ask(const std::string& name, ns_type type, std::span<const std::uint8_t>& out) {
    if (!is_ready_) return asio::error::no_recovery;
    const int size = ::res_nsearch(&state_, name.c_str(), ns_c_in, type, answer_.data(),
                                   static_cast<int>(answer_.size()));
    if (size >= 0) {
      out = std::span(answer_).first(std::min(static_cast<std::size_t>(size), answer_.size()));
      return {};
    }
    switch (state_.res_h_errno) {
      case TRY_AGAIN:
        return asio::error::host_not_found_try_again;
      case NO_RECOVERY:
        return asio::error::no_recovery;
      default:
        return asio::error::host_not_found;
    }
  }

 private:
  struct __res_state state_ {};
  bool is_ready_ = false;
  std::vector<std::uint8_t> answer_;
};

std::error_code ask_server(const endpoint& server, const std::string& host,
                           std::vector<endpoint>& out) {
  stub_resolver asks(server);
  std::error_code error;
  const std::size_t before = out.size();
  for (const ns_type type : {ns_t_a, ns_t_aaaa}) {
    std::span<const std::uint8_t> bytes;
    if (const auto failed = asks.ask(host, type, bytes)) {
      error = failed;
      continue;
    }
    dns_answer(bytes).for_each([&](unsigned got, std::span<const std::uint8_t> data) {
      endpoint address;
      if (got == ns_t_a && data.size() == 4) {
        out.push_back(endpoint::v4({data[0], data[1], data[2], data[3]}, 0));
      } else if (got == ns_t_aaaa && data.size() == address.bytes.size()) {
        std::copy(data.begin(), data.end(), address.bytes.begin());
        out.push_back(address);
      }
    });
  }
  // A host of one family has no records of the other.
  if (out.size() > before) return {};
  return error ? error : asio::error::host_not_found;
}

struct service_record {
  unsigned priority = 0;
  unsigned weight = 0;
  std::uint16_t port = 0;
  std::string host;
};

}  // namespace

std::error_code name_service::look_up(const std::string& host, std::vector<endpoint>& out) const {
  return server_ ? ask_server(*server_, host, out) : ask_system(host, out);
}

std::error_code name_service::look_up_service(const std::string& name,
                                              std::vector<service_host>& out) const {
  std::vector<service_record> found;
  stub_resolver asks(server_);
  std::span<const std::uint8_t> bytes;
  if (const auto failed = asks.ask(name, ns_t_srv, bytes)) return failed;
  dns_answer answer(bytes);
  answer.for_each([&](unsigned got, std::span<const std::uint8_t> data) {
    if (got != ns_t_srv || data.size() < 7) return;
    const auto number = [&data](std::size_t at) {
      return static_cast<unsigned>(data[at] << 8 | data[at + 1]);
    };
    service_record record{number(0), number(2), static_cast<std::uint16_t>(number(4)),
                          answer.name_at(data.data() + 6)};
    // A root name says that the service is not to be had (RFC 2782).
    if (record.port != 0 && !record.host.empty()) found.push_back(std::move(record));
  });
  // Seeds are all asked, so the weights, which share out load, decide no more than the order.
  std::stable_sort(
      found.begin(), found.end(), [](const service_record& a, const service_record& b) {
        return a.priority != b.priority ? a.priority < b.priority : a.weight > b.weight;
      });
  if (found.size() > services_max) found.resize(services_max);
  for (auto& record : found)
    out.push_back({std::move(record.host), record.port});
  return found.empty() ? std::error_code(asio::error::host_not_found) : std::error_code();
}

}  // namespace lifering::net
