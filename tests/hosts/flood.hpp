// What a flood is made of: noise, packets that are well-formed, and packets that others sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "swim/message.hpp"
#include "wire/codec.hpp"

namespace lifering_test {

/// Up to 1400 random bytes, of which half begin as a packet of ours does.
void append_noise(lifering::base::rng& random, std::vector<std::uint8_t>& packet);

/// Makes packets of strangers that nobody can tell from those of members but by the names.
class packet_maker {
 public:
  /// All invented members are said to be at `address`, and so is the sender; unless a name is
  /// given, which the sender pretends to have.
  packet_maker(std::string cluster, const lifering::endpoint& address, std::string pretended = {},
               std::uint64_t epoch = 0);

  /// Where those are said to be who are invented from now on.
  void move_to(const lifering::endpoint& address) { address_ = address; }

  /// A ping that tells of so many members under new names.
  void append(std::size_t invented, std::vector<std::uint8_t>& packet);

 private:
  lifering::wire::codec codec_;
  lifering::endpoint address_;
  lifering::swim::packet packet_;
  const std::string pretended_;
  const std::uint64_t epoch_ = lifering::swim::make_epoch(1, 1);  ///< Of those invented.
  std::uint64_t invented_ = 0;
};

/// IPv4 packets with datagrams to one of these ports that pass over loopback. Throws where that
/// isn't allowed.
std::vector<std::vector<std::uint8_t>> record_datagrams(const std::vector<std::uint16_t>& ports,
                                                        std::chrono::milliseconds time);

/// Changes where a recorded packet goes to.
void redirect(std::vector<std::uint8_t>& packet, std::uint16_t port);

}  // namespace lifering_test
