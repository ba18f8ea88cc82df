// lifering-ring slot: the slots of keys, for which no node is needed.
#include <iostream>

#include "arguments.hpp"
#include "keys.hpp"

#if defined(LIFERING_COMPAT)
#include <lifering/compat.hpp>
#endif

namespace ring_tool {

#if defined(LIFERING_COMPAT)

bool has_partitions(const lifering::placement_options& placement) {
  return placement.text().starts_with("kafka:");
}

void print_slots(const lifering::placement_options& placement, const key_list& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto key = keys.read(i);
    std::cout << key.printed << '\t' << *lifering::compat::slot(placement, key.bytes) << '\n';
  }
}

int run_slot(arguments args) {
  auto placement = lifering::compat::redis_slots{}.placement();
  key_list keys;
  while (!args.done()) {
    if (!args.next_is_flag()) {
      if (!args.done()) {
        keys.take_word(args);
      }
    } else if (!keys.take_flag(args) && !take_placement_flag(args, placement)) {
      unknown_flag(args.flag(), "slot");
    }
  }
  check(placement);
  if (!lifering::compat::slot(placement, "")) {
    throw usage_error("placement " + placement.text() +
                      " has no slots; use redis_slots, kafka:partitions=N or maglev");
  }
  keys.check();
  print_slots(placement, keys);
  return 0;
}

#else

bool has_partitions(const lifering::placement_options& /*placement*/) {
  return false;
}

void print_slots(const lifering::placement_options& /*placement*/, const key_list& /*keys*/) {}

int run_slot(arguments /*args*/) {
  throw usage_error("slots are other systems', whose placements this program was built without");
}

#endif

}  // namespace ring_tool
