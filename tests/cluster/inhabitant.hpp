// A member in a network in memory, which remembers its events and its messages.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <lifering/keyring.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/facade_support.hpp"
#include "cluster/memory_network.hpp"
#include "support/catch.hpp"

namespace lifering_test {

inline lifering::endpoint place(std::uint8_t number) {
  return lifering::endpoint::v4({10, 0, 0, number}, 7946);
}

/// A key of its own each time, and everything sealed.
inline std::shared_ptr<lifering::keyring> one_key() {
  auto keys = std::make_shared<lifering::keyring>();
  std::array<char, lifering::key_text_size> text{};
  lifering::generate_key(text);
  REQUIRE_FALSE(keys->add({text.data(), text.size()}));
  REQUIRE_FALSE(keys->set_mode(lifering::seal_mode::require));
  return keys;
}

struct inhabitant {
  inhabitant(const std::shared_ptr<memory_network>& network, std::uint8_t number,
             const std::shared_ptr<lifering::keyring>& keys = {})
      : inhabitant(options_of(network, number, keys)) {}

  explicit inhabitant(lifering::options options) {
    member.emplace(std::move(options));
    events.attach(*member);
    member->on_message([this](const lifering::message& message) {
      const std::lock_guard lock(mutex);
      messages.push_back(message.payload);
    });
    member->start();
  }

  static lifering::options options_of(const std::shared_ptr<memory_network>& network,
                                      std::uint8_t number,
                                      const std::shared_ptr<lifering::keyring>& keys = {}) {
    auto options = member_options("member-" + std::to_string(number));
    options.transport = network->make_transport(place(number));
    options.keys = keys;
    return options;
  }

  std::ptrdiff_t times_heard(const std::string& payload) {
    const std::lock_guard lock(mutex);
    return std::count(messages.begin(), messages.end(), payload);
  }

  event_memory events;
  std::mutex mutex;
  std::vector<std::string> messages;
  std::optional<lifering::cluster> member;
};

}  // namespace lifering_test
