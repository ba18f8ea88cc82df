// Any text as a seed, as an allowed network and as what to advertise.
#include "net/seed.hpp"

#include "fuzz/fuzz_target.hpp"
#include "net/advertise.hpp"
#include "net/allow_list.hpp"

namespace lifering::fuzz {

void run(bytes_view input) {
  const auto text = as_text(input);
  if (const auto seed = net::seed::parse(text)) {
    LIFERING_CHECK(seed->host.empty() == seed->address.has_value());
    LIFERING_CHECK(seed->port != 0 && seed->host.size() <= 253);
    LIFERING_CHECK(!seed->address || !seed->is_service);
    LIFERING_CHECK(seed->host.find_first_of(":/ \n") == std::string::npos);
  }
  if (const auto network = net::network::parse(text)) {
    endpoint inside;
    inside.bytes = network->bytes;
    LIFERING_CHECK(network->prefix <= 128);
    // An IPv6 network may begin where IPv4 is kept, and doesn't mean it.
    LIFERING_CHECK(network->contains(inside) || (inside.is_v4() && network->prefix < 96));
  }
  if (const auto given = net::advertise_text::parse(text)) {
    LIFERING_CHECK(given->host.empty() == given->address.has_value());
  }
}

}  // namespace lifering::fuzz
