// Any bytes as the body in a good envelope, so that all of the fuzzer's work goes into the body.
#include "fuzz/decoding.hpp"

namespace lifering::fuzz {

void run(bytes_view input) {
  static wire::codec with("golden");
  static swim::packet packet;
  static std::vector<std::uint8_t> bytes;
  if (input.size() > wire::packet_max) return;
  bytes.clear();
  wire::append_header("golden", false, input.size(), bytes);
  bytes.insert(bytes.end(), input.begin(), input.end());
  const auto error = with.decode(bytes, packet);
  if (error == wire::decode_error::none) {
    check_accepted(with, packet);
  } else {
    LIFERING_CHECK(error == wire::decode_error::malformed_body ||
                   error == wire::decode_error::over_limit ||
                   error == wire::decode_error::bad_field);
  }
}

}  // namespace lifering::fuzz
