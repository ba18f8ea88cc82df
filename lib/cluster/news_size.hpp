// How large a datagram must be for news of this member to travel in it.
#pragma once

#include <cstddef>
#include <lifering/options.hpp>

namespace lifering::cluster_detail {

/// Bytes of a datagram that carries the record of a member with these options and that many bytes
/// of metadata, sent by the member itself: an upper bound.
std::size_t news_size(const options& given, std::size_t metadata);

}  // namespace lifering::cluster_detail
