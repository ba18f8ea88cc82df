// Any text as an address: what is read prints as what is read back.
#include <lifering/endpoint.hpp>

#include "fuzz/fuzz_target.hpp"

namespace lifering::fuzz {

void run(bytes_view input) {
  const auto address = endpoint::parse(as_text(input), 7946);
  if (!address) return;
  const auto again = endpoint::parse(address->to_string());
  LIFERING_CHECK(again && *again == *address);
  LIFERING_CHECK(!address->is_v4() || address->scope == 0);
}

}  // namespace lifering::fuzz
