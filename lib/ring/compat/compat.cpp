// Placements by name, and what is asked of any of them.
#include <lifering/compat.hpp>

#include "base/check.hpp"
#include "ring/compat/system_rule.hpp"

namespace lifering::compat {

namespace {

struct system {
  std::string_view name;
  rule_reader read;
};

constexpr system systems[] = {
    {"nginx", read_nginx},           {"haproxy", read_haproxy}, {"ketama", read_ketama},
    {"envoy_ring", read_envoy_ring}, {"maglev", read_maglev},   {"redis_slots", read_redis_slots},
    {"kafka", read_kafka},
};

const system* find(std::string_view text) noexcept {
  const std::string_view name = text.substr(0, text.find(':'));
  for (const system& each : systems) {
    if (each.name == name) {
      return &each;
    }
  }
  return nullptr;
}

}  // namespace

bool is_name(std::string_view text) noexcept {
  return find(text) != nullptr;
}

std::optional<placement_options> parse(std::string_view text, problem& wrong) {
  const system* found = find(text);
  if (found == nullptr) {
    wrong = bad_option("placement \"" + std::string{text.substr(0, text.find(':'))} +
                       "\" is unknown; use nginx, haproxy, ketama, envoy_ring, maglev, redis_slots "
                       "or kafka");
    return std::nullopt;
  }
  option_list given;
  if (auto fault = split_options(text, given)) {
    wrong = *std::move(fault);
    return std::nullopt;
  }
  auto rule = found->read(given, wrong);
  if (rule == nullptr) {
    return std::nullopt;
  }
  return placement_by(std::move(rule));
}

placement_options parse(std::string_view text) {
  problem wrong;
  auto result = parse(text, wrong);
  if (!result) {
    throw_if(std::move(wrong));
  }
  return *std::move(result);
}

placement_options with_servers(const placement_options& placement, std::vector<std::string> order,
                               std::vector<server_id> ids) {
  LIFERING_CHECK(placement.foreign);
  const auto* rule = static_cast<const compat_rule*>(placement.foreign.rule());
  return placement_by(rule->with_servers(std::move(order), std::move(ids)));
}

std::optional<std::uint32_t> slot(const placement_options& placement, std::string_view key) {
  return placement.foreign ? placement.foreign.rule()->slot(key) : std::nullopt;
}

}  // namespace lifering::compat
