// Floods of connections: such as stand and never say anything whole, and such as never stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hosts/pace.hpp"

namespace lifering_test {

/// Opens connections, each from an address of its own on loopback, sends `first_words` on each and
/// keeps as many of the last ones as the system lets it.
void open_connections(const flood_plan& plan, pace& pace,
                      std::span<const std::uint8_t> first_words);

/// Sends the first packet of a connection, each from an address of its own in 127.1.0.0 to
/// 127.255.255.255, and nothing after it. It is for whoever asks for that to see that the answers
/// are lost: a host that gets one which it never asked for refuses it. Throws where packets can't
/// be made by hand.
void send_syns(const flood_plan& plan, pace& pace);

}  // namespace lifering_test
