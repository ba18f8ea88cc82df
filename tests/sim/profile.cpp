#include "sim/profile.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <type_traits>

#include "sim/quantity.hpp"

namespace lifering::sim {
namespace {

using namespace std::chrono_literals;

profile lan() {
  return {};
}

profile wan() {
  profile result;
  auto& timing = result.machine.timing;
  timing.probe_interval = 3s;
  timing.probe_timeout = 1500ms;
  timing.suspicion_multiplier = 3;
  timing.gossip_interval = 500ms;
  timing.gossip_peers = 4;
  timing.push_pull_interval = 60s;
  timing.stream_timeout = 30s;
  result.network.latency_min = 20ms;
  result.network.latency_max = 120ms;
  return result;
}

profile local() {
  profile result;
  auto& timing = result.machine.timing;
  timing.probe_interval = 200ms;
  timing.probe_timeout = 80ms;
  timing.suspicion_multiplier = 5;
  timing.gossip_interval = 50ms;
  timing.push_pull_interval = 10s;
  timing.stream_timeout = 5s;
  result.network.latency_min = 20us;
  result.network.latency_max = 200us;
  return result;
}

/// memberlist's LAN defaults and rules: its nacks come too late to count, its probe timeout isn't
/// scaled, two confirmations end a suspicion, a failed stream probe is one more try, and nothing
/// but gossip and push/pull repairs a view.
profile memberlist() {
  profile result;
  auto& timing = result.machine.timing;
  timing.probe_interval = 1s;
  timing.probe_timeout = 500ms;
  timing.indirect_probes = 3;
  timing.suspicion_multiplier = 4;
  timing.suspicion_stretch = 6;
  timing.gossip_interval = 200ms;
  timing.gossip_peers = 3;
  timing.retransmit_multiplier = 4;
  timing.push_pull_interval = 30s;
  timing.stream_timeout = 10s;
  timing.grave_time = 30s;
  timing.hold_down = 0s;
  result.machine.suspicion_confirmations = 2;
  result.machine.local_health_max = 7;
  auto& parts = result.machine.parts;
  parts.urgent_gossip = false;
  parts.adaptive_timeout = false;
  parts.repeated_pings = false;
  parts.confirm_at_once = false;
  parts.transport_evidence = false;
  parts.stall_detector = false;
  parts.lone_accuser_rule = false;
  parts.digest_sync = false;
  parts.heal = false;
  parts.scale_probe_timeout = false;
  return result;
}

using feature = bool swim::features::*;
constexpr std::pair<std::string_view, feature> features[] = {
    {"suspicion", &swim::features::suspicion},
    {"gossip_rounds", &swim::features::gossip_rounds},
    {"urgent_gossip", &swim::features::urgent_gossip},
    {"stream_probe", &swim::features::stream_probe},
    {"nacks", &swim::features::nacks},
    {"local_health_probe", &swim::features::local_health_probe},
    {"local_health_suspicion", &swim::features::local_health_suspicion},
    {"buddy", &swim::features::buddy},
    {"adaptive_timeout", &swim::features::adaptive_timeout},
    {"repeated_pings", &swim::features::repeated_pings},
    {"confirm_at_once", &swim::features::confirm_at_once},
    {"transport_evidence", &swim::features::transport_evidence},
    {"stall_detector", &swim::features::stall_detector},
    {"lone_accuser_rule", &swim::features::lone_accuser_rule},
    {"digest_sync", &swim::features::digest_sync},
    {"push_pull", &swim::features::push_pull},
    {"heal", &swim::features::heal},
    {"shuffled_rounds", &swim::features::shuffled_rounds},
    {"scale_probe_timeout", &swim::features::scale_probe_timeout},
};

/// Far beyond what is sensible, and far below what overflows a product of them.
constexpr std::uint64_t number_max = 1'000'000;
constexpr auto duration_max = std::chrono::hours(24 * 30);

/// Whether zero has a meaning.
enum class zero : std::uint8_t { allowed, refused };

template <class Value>
bool assign(Value& to, std::string_view text, zero rule = zero::allowed) {
  if constexpr (std::is_same_v<Value, std::chrono::milliseconds>) {
    const auto value = parse_duration(text);
    if (!value || *value % 1ms != 0ns || *value > duration_max) return false;
    if (rule == zero::refused && *value == 0ns) return false;
    to = std::chrono::duration_cast<std::chrono::milliseconds>(*value);
  } else {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value > number_max)
      return false;
    if (rule == zero::refused && value == 0) return false;
    to = static_cast<Value>(value);
  }
  return true;
}

}  // namespace

std::optional<profile> find_profile(std::string_view name) {
  if (name == "lan") return lan();
  if (name == "wan") return wan();
  if (name == "local") return local();
  if (name == "memberlist") return memberlist();
  return std::nullopt;
}

bool switch_off(swim::features& parts, std::string_view name) {
  for (const auto& [known, which] : features) {
    if (known != name) continue;
    parts.*which = false;
    return true;
  }
  return false;
}

bool set_parameter(swim::config& machine, std::string_view name, std::string_view value) {
  auto& timing = machine.timing;
  auto& limits = machine.limits;
  if (name == "probe_interval") return assign(timing.probe_interval, value, zero::refused);
  if (name == "probe_timeout") return assign(timing.probe_timeout, value, zero::refused);
  if (name == "indirect_probes") return assign(timing.indirect_probes, value);
  if (name == "suspicion_multiplier")
    return assign(timing.suspicion_multiplier, value, zero::refused);
  if (name == "suspicion_stretch") return assign(timing.suspicion_stretch, value, zero::refused);
  if (name == "suspicion_confirmations") return assign(machine.suspicion_confirmations, value);
  if (name == "gossip_interval") return assign(timing.gossip_interval, value, zero::refused);
  if (name == "gossip_peers") return assign(timing.gossip_peers, value);
  if (name == "retransmit_multiplier")
    return assign(timing.retransmit_multiplier, value, zero::refused);
  if (name == "push_pull_interval") return assign(timing.push_pull_interval, value);
  if (name == "stream_timeout") return assign(timing.stream_timeout, value, zero::refused);
  if (name == "grave_time") return assign(timing.grave_time, value, zero::refused);
  if (name == "hold_down") return assign(timing.hold_down, value);
  if (name == "local_health_max") return assign(machine.local_health_max, value);
  if (name == "suspicions_per_interval")
    return assign(machine.suspicions_per_interval, value, zero::refused);
  if (name == "leave_acks") return assign(machine.leave_acks, value);
  if (name == "members") return assign(limits.members, value, zero::refused);
  if (name == "graves") return assign(limits.graves, value, zero::refused);
  if (name == "streams") return assign(limits.streams, value, zero::refused);
  return false;
}

}  // namespace lifering::sim
