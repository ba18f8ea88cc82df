// A name server on loopback that answers from a table: A, AAAA and SRV records over UDP.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace lifering_test {

/// Answers on a thread of its own until it is destroyed. The table may be changed at any time.
class name_server {
 public:
  name_server() : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    if (::bind(socket_, address, size) != 0 || ::getsockname(socket_, address, &size) != 0) {
      throw std::runtime_error("the name server finds no port");
    }
    port_ = ntohs(at.sin_port);
    // Woken now and then to see whether it is over.
    const timeval pause{0, 50'000};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &pause, sizeof pause);
    thread_ = std::thread([this] { serve(); });
  }
  ~name_server() {
    over_ = true;
    thread_.join();
    ::close(socket_);
  }
  name_server(const name_server&) = delete;
  name_server& operator=(const name_server&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  void add_v4(const std::string& name, const std::string& address) {
    std::string data(4, '\0');
    ::inet_pton(AF_INET, address.c_str(), data.data());
    add(name, type_a, std::move(data));
  }
  void add_v6(const std::string& name, const std::string& address) {
    std::string data(16, '\0');
    ::inet_pton(AF_INET6, address.c_str(), data.data());
    add(name, type_aaaa, std::move(data));
  }
  void add_service(const std::string& name, unsigned priority, unsigned weight, unsigned port,
                   const std::string& host) {
    add(name, type_srv, number(priority) + number(weight) + number(port) + encoded(host));
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    records_.clear();
  }

  /// For names that aren't in the table: say so, or say nothing at all.
  void be_mute(bool mute) { mute_ = mute; }

  int questions() const { return questions_; }

 private:
  static constexpr unsigned type_a = 1;
  static constexpr unsigned type_aaaa = 28;
  static constexpr unsigned type_srv = 33;

  static std::string number(unsigned value) {
    return {static_cast<char>(value >> 8 & 0xff), static_cast<char>(value & 0xff)};
  }

  static std::string encoded(std::string_view name) {
    std::string bytes;
    while (!name.empty()) {
      const auto label = name.substr(0, name.find('.'));
      bytes += static_cast<char>(label.size());
      bytes += label;
      name.remove_prefix(std::min(label.size() + 1, name.size()));
    }
    return bytes + '\0';
  }

  void add(const std::string& name, unsigned type, std::string data) {
    const std::lock_guard lock(mutex_);
    records_[{encoded(name), type}].push_back(std::move(data));
  }

  void serve() {
    while (!over_) {
      std::array<char, 1500> question{};
      sockaddr_in from{};
      socklen_t size = sizeof from;
      auto* address = reinterpret_cast<sockaddr*>(&from);
      const auto length = ::recvfrom(socket_, question.data(), question.size(), 0, address, &size);
      if (length < 17) continue;
      ++questions_;
      const auto reply = answer({question.data(), static_cast<std::size_t>(length)});
      if (!reply.empty()) ::sendto(socket_, reply.data(), reply.size(), 0, address, size);
    }
  }

  /// One question, without compression, as stub resolvers ask it (RFC 1035, 4.1).
  std::string answer(std::string_view question) {
    constexpr std::size_t header = 12;
    const auto end = question.find('\0', header);
    if (end == std::string_view::npos || question.size() < end + 5) return {};
    const std::string name(question.substr(header, end + 1 - header));
    const unsigned type = static_cast<unsigned char>(question[end + 2]);
    const auto asked = question.substr(header, end + 5 - header);
    const std::lock_guard lock(mutex_);
    const auto found = records_.find({name, type});
    if (found == records_.end() && mute_) return {};
    const auto count = found == records_.end() ? 0 : found->second.size();
    const auto any = records_.lower_bound({name, 0});
    const bool is_known = any != records_.end() && any->first.first == name;
    std::string reply(question.substr(0, 2));
    // A recursive answer; 3: no such name.
    reply += number(is_known ? 0x8180 : 0x8183) + number(1) + number(static_cast<unsigned>(count)) +
             number(0) + number(0);
    reply += asked;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& data = found->second[i];
      reply += number(0xc000 | header) + number(type) + number(1) + number(0) + number(60) +
               number(static_cast<unsigned>(data.size())) + data;
    }
    return reply;
  }

  int socket_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::map<std::pair<std::string, unsigned>, std::vector<std::string>> records_;
  std::atomic<bool> over_{false};
  std::atomic<bool> mute_{false};
  std::atomic<int> questions_{0};
  std::thread thread_;
};

}  // namespace lifering_test
