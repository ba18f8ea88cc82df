// Packets that no application would make but that a peer may send: sizes up to the limits, extreme
// numbers, hostile texts. A function of the generator's seed alone.
#pragma once

#include "base/rng.hpp"
#include "swim/message.hpp"

namespace lifering::wire::testing {

/// How large the packets are.
enum class extent : std::uint8_t {
  small,   ///< As in a quiet cluster: short names, a few updates.
  hostile  ///< Anything that the limits allow.
};

swim::packet random_packet(base::rng& random, extent size);

/// What decoding makes of an encoded packet: claims other than alive name their subject, and do not
/// carry its record.
swim::packet as_received(swim::packet sent);

}  // namespace lifering::wire::testing
