#include "sim/random_scenario.hpp"

#include <algorithm>
#include <iterator>

#include "base/integer_log.hpp"
#include "base/rng.hpp"
#include "ring/mix64.hpp"
#include "sim/cluster.hpp"

namespace lifering::sim {
namespace {

using kind = happening::kind;
using namespace std::chrono_literals;

constexpr std::string_view fault_names[] = {
    "loss",      "duplicate",   "reorder", "crash",   "vanish", "restart", "cut",
    "flap",      "member_loss", "pause",   "block",   "leave",  "weight",  "metadata",
    "broadcast", "moved",       "jerk",    "joining", "ready",  "drain",   "forget",
};

class drawer {
 public:
  drawer(const scenario& given, std::uint64_t seed)
      : part_(*given.random),
        random_(ring_detail::hash64(seed).add(std::uint64_t{7}).value()),
        result_(given) {}

  scenario draw() {
    const auto spread = part_.nodes_max - part_.nodes_min;
    result_.nodes = part_.nodes_min + static_cast<node_id>(random_.below(spread + 1ULL));
    result_.masked = part_.masked;
    result_.random.reset();
    draw_network();
    draw_stops();
    draw_network_faults();
    draw_hampering();
    draw_changes();
    draw_jerks();
    draw_roles();
    calm_down();
    std::stable_sort(result_.happenings.begin(), result_.happenings.end(),
                     [](const happening& a, const happening& b) { return a.at < b.at; });
    return result_;
  }

 private:
  bool masked(std::string_view fault) const {
    return std::find(part_.masked.begin(), part_.masked.end(), fault) != part_.masked.end();
  }

  void add(std::string_view fault, happening what) {
    if (!masked(fault)) result_.happenings.push_back(std::move(what));
  }

  /// Whole tenths of a second within the time of faults, the last tenth of it left out.
  base::duration draw_time() {
    const auto tenths = static_cast<std::uint64_t>(part_.length / 100ms) * 9 / 10;
    return 100ms * static_cast<std::int64_t>(random_.below(tenths + 1));
  }
  base::duration draw_length(std::int64_t max_tenths) {
    return 100ms *
           static_cast<std::int64_t>(1 + random_.below(static_cast<std::uint64_t>(max_tenths)));
  }
  node_id draw_node() { return 1 + static_cast<node_id>(random_.below(result_.nodes)); }
  node_set draw_some() {
    const node_id first = draw_node();
    const node_id last = std::min<node_id>(
        first + static_cast<node_id>(random_.below(result_.nodes / 3 + 1ULL)), result_.nodes);
    return {first, last};
  }
  happening draw_of_some(kind what) {
    happening made;
    made.what = what;
    made.at = draw_time();
    made.who = draw_some();
    return made;
  }
  happening draw_of_one(kind what) {
    happening made;
    made.what = what;
    made.at = draw_time();
    made.who = node_set(draw_node());
    return made;
  }
  /// Up to `max`, small numbers more often.
  std::uint64_t draw_count(std::uint64_t max) { return random_.below(random_.below(max + 1) + 1); }

  void draw_network() {
    auto& network = result_.profile.network;
    const ppm loss = static_cast<ppm>(random_.below(4)) * static_cast<ppm>(random_.below(100'000));
    const ppm duplicate = static_cast<ppm>(random_.below(50'000));
    const ppm reorder = static_cast<ppm>(random_.below(50'000));
    if (!masked("loss")) network.loss = std::max(network.loss, loss);
    if (!masked("duplicate")) network.duplicate = duplicate;
    if (!masked("reorder")) network.reorder = reorder;
    result_.start_apart = 50ms * static_cast<std::int64_t>(random_.below(5));
  }

  /// Crashes, each followed by a restart at some later time; the calm phase starts the rest.
  void draw_stops() {
    for (std::uint64_t left = draw_count(6); left > 0; --left) {
      happening stop;
      stop.at = draw_time();
      const bool vanishes = random_.chance(1, 2);
      stop.what = vanishes ? kind::vanish : kind::crash;
      stop.who = draw_some();
      happening restart;
      restart.what = kind::restart;
      restart.who = stop.who;
      restart.at = stop.at + draw_length(300);
      restart.flag = random_.chance(1, 4) && !masked("moved");
      add(vanishes ? "vanish" : "crash", stop);
      if (restart.at < part_.length) add("restart", restart);
    }
  }

  void draw_network_faults() {
    for (std::uint64_t left = draw_count(6); left > 0; --left) {
      happening cut = draw_of_some(kind::cut);
      cut.other = random_.chance(1, 2) ? node_set::all() : draw_some();
      cut.flag = random_.chance(2, 3);
      cut.length = draw_length(400);
      add("cut", cut);
    }
    const auto flaps = static_cast<std::int64_t>(random_.below(4) == 0 ? random_.below(6) : 0);
    const base::duration flap_begin = draw_time();
    const base::duration flap_time = draw_length(60);
    const node_id flapping = draw_node();
    for (std::int64_t i = 0; i < flaps; ++i) {
      happening cut;
      cut.what = kind::cut;
      cut.at = flap_begin + 2 * i * flap_time;
      cut.who = node_set(flapping);
      cut.other = node_set::all();
      cut.length = flap_time;
      if (cut.at + flap_time < part_.length) add("flap", cut);
    }
    for (std::uint64_t left = draw_count(4); left > 0; --left) {
      happening loss = draw_of_some(random_.chance(1, 2) ? kind::loss_in : kind::loss_out);
      loss.loss = static_cast<ppm>(random_.below(certain));
      loss.length = draw_length(300);
      add("member_loss", loss);
    }
  }

  void draw_hampering() {
    for (std::uint64_t left = draw_count(6); left > 0; --left) {
      const bool pauses = random_.chance(1, 2);
      happening item = draw_of_some(pauses ? kind::pause : kind::block);
      item.length = draw_length(300);
      add(pauses ? "pause" : "block", item);
    }
  }

  void draw_changes() {
    for (std::uint64_t left = draw_count(3); left > 0; --left) {
      happening item = draw_of_one(kind::leave);
      add("leave", item);
    }
    for (std::uint64_t left = draw_count(4); left > 0; --left) {
      happening item = draw_of_one(kind::set_weight);
      item.weight = *weight::from_thousandths(500 * (1 + random_.below(4)));
      add("weight", item);
    }
    for (std::uint64_t left = draw_count(4); left > 0; --left) {
      happening item = draw_of_some(kind::metadata);
      item.text = "v" + std::to_string(random_.below(1000));
      add("metadata", item);
    }
    for (std::uint64_t left = draw_count(4); left > 0; --left) {
      happening item = draw_of_one(kind::broadcast);
      item.text = "message " + std::to_string(left);
      add("broadcast", item);
    }
  }

  void draw_jerks() {
    for (std::uint64_t left = draw_count(3); left > 0; --left) {
      happening item = draw_of_some(kind::jerk);
      item.length = draw_length(300);
      item.awake = 10ms * static_cast<std::int64_t>(1 + random_.below(20));
      item.asleep = 10ms * static_cast<std::int64_t>(1 + random_.below(150));
      add("jerk", item);
    }
  }

  /// Who owns nothing until it is ready, gives its keys away, or is written off by an operator.
  void draw_roles() {
    const bool some_join = random_.chance(1, 4);
    const node_set joining = draw_some();
    if (some_join && !masked("joining")) result_.joining = joining;
    for (std::uint64_t left = draw_count(6); left > 0; --left) {
      happening item;
      const bool drains = random_.chance(1, 2);
      item.what = drains ? kind::drain : kind::ready;
      item.at = draw_time();
      item.who = draw_some();
      add(drains ? "drain" : "ready", item);
    }
    for (std::uint64_t left = draw_count(4); left > 0; --left) {
      happening item = draw_of_some(kind::forget);
      item.other = random_.chance(1, 2) ? node_set::all() : draw_some();
      add("forget", item);
    }
  }

  /// Heals everything and starts whoever doesn't run. A single restart each, so that retries can't
  /// hide a member that is stuck.
  void calm_down() {
    base::duration end = part_.length;
    for (auto& item : result_.happenings) {
      if (!item.length) continue;
      item.length = std::min(*item.length, part_.length - item.at);
      end = std::max(end, item.at + *item.length);
    }
    happening heal;
    heal.what = kind::heal;
    heal.at = end;
    result_.happenings.push_back(heal);
    happening restart;
    restart.what = kind::restart;
    restart.who = node_set(1, result_.nodes);
    restart.at = end + 100ms;
    result_.happenings.push_back(restart);
    // Once more for those who were saying goodbye then: all are to be there, the seed above all.
    restart.at += cluster::leave_deadline + 1s;
    result_.happenings.push_back(restart);
    const base::duration bound = agreement_bound(result_.profile.machine, result_.nodes);
    expectation agree;
    agree.what = expectation::kind::agree;
    agree.within = bound;
    agree.moment = restart.at;
    result_.expectations.push_back(agree);
    result_.until = restart.at + bound + 10s;
  }

  const random_part& part_;
  base::rng random_;
  scenario result_;
};

}  // namespace

scenario drawn_from(const scenario& given, std::uint64_t seed) {
  return given.random ? drawer(given, seed).draw() : given;
}

std::string unknown_fault(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (std::find(std::begin(fault_names), std::end(fault_names), name) == std::end(fault_names)) {
      return name;
    }
  }
  return {};
}

base::duration agreement_bound(const swim::config& machine, node_id nodes) {
  const auto& timing = machine.timing;
  const std::int64_t log10 = std::max(base::log10_thousandths(nodes), 1000U);
  const base::duration shortest =
      timing.suspicion_multiplier * timing.probe_interval * log10 / 1000;
  const base::duration longest = shortest * timing.suspicion_stretch;
  const unsigned doublings = nodes > 32 ? base::ceil_log2(nodes) - 4 : 1;
  return 2 * longest + timing.push_pull_interval * doublings + timing.stream_timeout +
         20 * timing.gossip_interval;
}

}  // namespace lifering::sim
