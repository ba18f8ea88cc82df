// Any bytes as a datagram.
#include "fuzz/decoding.hpp"

namespace lifering::fuzz {

void run(bytes_view input) {
  static wire::codec with("golden");
  static swim::packet packet;
  if (with.decode(input, packet) == wire::decode_error::none) {
    LIFERING_CHECK(wire::peek_cluster_id(input) == "golden");
    check_accepted(with, packet);
  }
}

}  // namespace lifering::fuzz
