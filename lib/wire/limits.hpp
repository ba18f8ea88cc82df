// The limits of the wire beside those of single fields, which are in swim/message.hpp.
#pragma once

#include <cstddef>

#include "swim/message.hpp"

namespace lifering::wire {

/// Updates, broadcasts and rows of a view that one packet may hold together. A row takes 30 bytes
/// and more, so a frame within swim's default budget holds less than a tenth of them.
inline constexpr std::size_t items_max = 8192;

/// The largest packet with its envelope: a user message of the greatest size, and room for the
/// sender, the envelope and what rides along.
inline constexpr std::size_t packet_max = swim::user_payload_max + std::size_t{64} * 1024;

/// Lives whose sealed packets a codec tells apart: twice the members that a cluster may have by
/// default. Those heard longest ago are forgotten first.
inline constexpr std::size_t lives_max = 32768;

}  // namespace lifering::wire
