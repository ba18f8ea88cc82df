#include "sim/simulation.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/random_scenario.hpp"

namespace lifering::sim {
namespace {

using kind = happening::kind;

double in_seconds(duration time) {
  return std::chrono::duration<double>(time).count();
}

cluster_options options_of(const scenario& given, std::uint64_t seed) {
  return {given.nodes, seed, given.profile, given.seeds};
}

std::string plural_of(kind what) {
  switch (what) {
    case kind::crash:
    case kind::vanish:
      return "crashes";
    case kind::cut:
      return "cuts";
    case kind::loss_out:
    case kind::loss_in:
      return "member_losses";
    case kind::pause:
      return "pauses";
    case kind::jerk:
      return "jerks";
    case kind::block:
      return "blocks";
    case kind::restart:
      return "restarts";
    case kind::leave:
      return "leaves";
    case kind::broadcast:
      return "broadcasts";
    case kind::drain:
      return "drains";
    case kind::ready:
      return "readies";
    default:
      return "other_changes";
  }
}

}  // namespace

bool result::passed() const {
  return violation_count == 0 && std::all_of(expectations.begin(), expectations.end(),
                                             [](const verdict& item) { return item.met; });
}

simulation::simulation(const scenario& given, std::uint64_t seed)
    : scenario_(given),
      seed_(seed),
      cluster_(options_of(given, seed)),
      views_(cluster_),
      chronicle_(cluster_, views_),
      checkers_(cluster_, views_),
      disagreement_(cluster_, views_),
      traffic_(cluster_),
      expectations_(given, {cluster_, views_, chronicle_, disagreement_, traffic_}, disturbances()),
      tally_(cluster_),
      loss_changes_(given.nodes + std::size_t{1}) {
  // The views come first: the others read them.
  for (observer* who : std::initializer_list<observer*>{
           &views_, &checkers_, &chronicle_, &disagreement_, &traffic_, &expectations_, &tally_}) {
    cluster_.watch(*who);
  }
}

result simulation::run() {
  begin();
  schedule();
  cluster_.world.run_until(world_begin + scenario_.until);
  return report();
}

void simulation::begin() {
  for (node_id which = 1; which <= scenario_.nodes; ++which) {
    if (scenario_.joining.contains(which)) cluster_.initial(which).phase = member_phase::joining;
    if (scenario_.zones > 0) {
      cluster_.initial(which).zone = "zone-" + std::to_string(which % scenario_.zones + 1);
    }
  }
  if (scenario_.formed) return cluster_.start_formed();
  duration wait{};
  for (node_id which = 1; which <= scenario_.nodes; ++which) {
    if (scenario_.absent.contains(which)) continue;
    // A restart before its turn has started it already.
    cluster_.world.after(wait, [this, which] {
      if (!cluster_.running(which)) cluster_.start(which);
    });
    wait += scenario_.start_apart;
  }
}

void simulation::schedule() {
  for (const happening& what : scenario_.happenings)
    cluster_.world.at(world_begin + what.at, [this, &what] { happen(what); });
  check_agreement_bound();
}

void simulation::happen(const happening& what) {
  if (cluster_.trace.prints()) cluster_.trace.line(0, to_text(what));
  if (what.what == kind::cut) return cut(what);
  if (what.what == kind::heal) {
    tally_.add("heals");
    return cluster_.faults.heal(cluster_.world.now());
  }
  for (const node_id which : what.who.members(scenario_.nodes))
    happen_to(what, which);
}

void simulation::happen_to(const happening& what, node_id which) {
  // Who is forgotten is mostly gone.
  if (what.what == kind::forget) return forget(what.other, which);
  const bool runs = cluster_.running(which);
  // A restart of someone who runs, or a crash of someone who doesn't, is nothing.
  const bool starts = what.what == kind::restart || what.what == kind::start;
  if (runs == starts) return;
  tally_.add(plural_of(what.what));
  swim::update_command change{};
  switch (what.what) {
    case kind::crash:
    case kind::vanish:
      chronicle_.crashed(which, cluster_.at(which).machine().self()->epoch);
      return cluster_.stop(which, what.what == kind::crash ? presence::refusing : presence::silent);
    case kind::loss_in:
    case kind::loss_out:
      return set_loss(what, which);
    case kind::pause:
      return cluster_.pause(which, *what.length);
    case kind::jerk:
      return cluster_.jerk(which, what.awake, what.asleep, *what.length);
    case kind::block:
      return cluster_.block(which, *what.length);
    case kind::start:
    case kind::restart:
      return cluster_.start(which, what.flag);
    case kind::leave:
      return cluster_.leave(which);
    case kind::set_weight:
      change.weight = what.weight;
      return cluster_.update(which, std::move(change));
    case kind::metadata:
      change.metadata = what.text;
      return cluster_.update(which, std::move(change));
    case kind::ready:
    case kind::drain:
      change.phase = what.what == kind::ready ? member_phase::serving : member_phase::draining;
      return cluster_.update(which, std::move(change));
    case kind::broadcast:
      return cluster_.broadcast(which, what.text);
    case kind::forget:
    case kind::cut:
    case kind::heal:
      return;
  }
}

void simulation::forget(const node_set& by, node_id which) {
  checkers_.may_be_forgotten(which);
  for (const node_id holder : by.members(scenario_.nodes)) {
    const auto held = views_.of(holder, which);
    if (held && held->state == member_state::failed) tally_.add("forgets");
    cluster_.forget(holder, which);
  }
}

void simulation::cut(const happening& what) {
  tally_.add("cuts");
  auto& faults = cluster_.faults;
  std::vector<faults::cut_handle> made{faults.cut(cluster_.world.now(), what.who, what.other)};
  if (what.flag) made.push_back(faults.cut(cluster_.world.now(), what.other, what.who));
  if (!what.length) return;
  cluster_.world.after(*what.length, [this, made] {
    for (const auto handle : made)
      cluster_.faults.mend(cluster_.world.now(), handle);
  });
}

void simulation::set_loss(const happening& what, node_id which) {
  const auto set = [this, in = what.what == kind::loss_in, which](ppm loss) {
    const time_point now = cluster_.world.now();
    in ? cluster_.faults.set_loss_in(now, which, loss)
       : cluster_.faults.set_loss_out(now, which, loss);
  };
  set(what.loss);
  const std::uint32_t change = ++loss_changes_[which];
  if (!what.length) return;
  cluster_.world.after(*what.length, [this, set, which, change] {
    if (loss_changes_[which] == change) set(0);  // Else a later line decides.
  });
}

std::vector<base::duration> simulation::disturbances() const {
  std::vector<base::duration> times;
  for (const happening& what : scenario_.happenings) {
    if (!what.disturbs()) continue;
    times.push_back(what.at);
    if (what.length) times.push_back(what.at + *what.length);
  }
  if (!scenario_.formed) {
    times.push_back(scenario_.start_apart * static_cast<std::int64_t>(scenario_.nodes - 1));
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

/// After the last fault has ended, the cluster comes together within the bound.
void simulation::check_agreement_bound() {
  const auto times = disturbances();
  const base::duration last = times.empty() ? base::duration::zero() : times.back();
  const base::duration bound = last + agreement_bound(scenario_.profile.machine, scenario_.nodes);
  if (bound > scenario_.until) return;
  cluster_.world.at(world_begin + bound, [this, last] {
    if (!cluster_.faults.calm()) return;  // A fault that nothing ends.
    const auto& turns = chronicle_.turns();
    const bool was = views_.agreed() || std::any_of(turns.begin(), turns.end(), [&](auto& turn) {
                       return turn.agreed && turn.at >= world_begin + last;
                     });
    if (!was) {
      cluster_.broken.add(
          0, "no agreement within the bound after the last disturbance at " + to_string(last));
    }
  });
}

result simulation::report() {
  result out;
  out.scenario = scenario_.name;
  out.seed = seed_;
  out.masked = scenario_.masked;
  out.virtual_s = in_seconds(cluster_.world.elapsed());
  out.converged = views_.agreed();
  const auto times = disturbances();
  const time_point last = world_begin + (times.empty() ? duration::zero() : times.back());
  if (const auto since = chronicle_.agreed_since()) {
    out.agree_s = in_seconds(std::max(*since - last, duration::zero()));
  }
  for (const crash_story& story : chronicle_.crashes()) {
    result::crash entry{story.node, in_seconds(story.at - world_begin), {}, {}};
    if (story.first) entry.first_s = in_seconds(*story.first);
    if (story.last && story.complete) entry.all_s = in_seconds(*story.last);
    out.crashes.push_back(entry);
  }
  std::set<node_id> observers;
  for (const false_failure& item : chronicle_.false_failures())
    observers.insert(item.observer);
  out.false_failures = chronicle_.false_failures().size();
  out.false_failure_observers = observers.size();
  for (const auto one :
       {event_kind::joined, event_kind::updated, event_kind::suspected, event_kind::recovered,
        event_kind::failed, event_kind::left, event_kind::superseded, event_kind::isolated}) {
    out.events[std::string(to_string(one))] = chronicle_.events(one);
  }
  out.fingerprints_max = chronicle_.distinct_rings_max();
  for (node_id which = 1; which <= scenario_.nodes; ++which)
    if (cluster_.running(which)) out.ring_versions.add(views_.versions(which));
  out.packets_per_s = traffic_.packets();
  out.bytes_per_s = traffic_.bytes();
  out.largest_datagram = cluster_.largest_datagram();
  out.disagreement_s = disagreement_.integral();
  out.expectations = expectations_.conclude();
  out.violations = cluster_.broken.list();
  out.violation_count = cluster_.broken.count();
  out.trace = cluster_.trace.hash();
  out.counters = tally_.all();
  out.counters["merges"] = views_.revivals();
  out.counters["checks"] = checkers_.checks();
  out.counters["rings_built"] = disagreement_.rings_built();
  out.counters["steps"] = cluster_.world.steps();
  return out;
}

}  // namespace lifering::sim
