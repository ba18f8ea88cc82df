#include "sim/expectations.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace lifering::sim {
namespace {

using wanted = expectation::kind;

std::string with_places(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string about(node_id node) {
  return name_of(node);
}

bool is_everywhere(wanted what) {
  return what == wanted::failed_everywhere || what == wanted::left_everywhere ||
         what == wanted::joined_everywhere || what == wanted::known_everywhere;
}

time_point moment(base::duration since_begin) {
  return world_begin + since_begin;
}

}  // namespace

expectations::expectations(const scenario& from, evidence_of_run run,
                           std::vector<base::duration> disturbances)
    : scenario_(from),
      run_(run),
      disturbances_(std::move(disturbances)),
      started_(run.world.size() + std::size_t{1}) {
  for (item_id i = 0; i < from.expectations.size(); ++i) {
    const expectation& item = from.expectations[i];
    if (is_everywhere(item.what) || item.what == wanted::delivered_everywhere) {
      run_.world.world.at(moment(item.moment + item.within), [this, i] { look_now(i); });
    }
    const bool counts_from =
        item.what == wanted::disagreement_at_most || item.what == wanted::ring_versions_at_most ||
        item.what == wanted::packets_at_most || item.what == wanted::bytes_at_most;
    if (counts_from) {
      run_.world.world.at(moment(item.moment), [this, i] { baselines_[i] = take_snapshot(); });
    }
    if (item.what == wanted::one_event_everywhere || item.what == wanted::changes_at_most ||
        item.what == wanted::no_failures_of) {
      for (const node_id subject : item.who.members(run_.world.size()))
        run_.story.note_events_about(subject);
    }
    if (item.what == wanted::health_at_most) worst_health_[i] = 0;
  }
}

void expectations::on_started(node_id which) {
  started_[which] = run_.world.world.now();
}

void expectations::on_step(node_id at, const swim::packet*) {
  if (worst_health_.empty() || !run_.world.running(at)) return;
  const std::uint64_t health = run_.world.at(at).machine().local_health();
  for (auto& [which, worst] : worst_health_)
    if (run_.world.world.elapsed() >= scenario_.expectations[which].moment) {
      worst = std::max(worst, health);
    }
}

std::vector<verdict> expectations::conclude() {
  std::vector<verdict> result;
  for (item_id i = 0; i < scenario_.expectations.size(); ++i) {
    verdict found = judge(i);
    found.line = scenario_.expectations[i].line;
    found.text = to_text(scenario_.expectations[i]).substr(std::string_view("expect ").size());
    result.push_back(std::move(found));
  }
  return result;
}

verdict expectations::judge(item_id which) {
  const expectation& item = scenario_.expectations[which];
  switch (item.what) {
    case wanted::agree:
      return judge_agreement(item);
    case wanted::no_false_failures:
    case wanted::no_suspicions:
      return judge_absence(item);
    case wanted::no_failures_of:
      return judge_failures(item);
    case wanted::failed_everywhere:
    case wanted::left_everywhere:
    case wanted::joined_everywhere:
    case wanted::known_everywhere:
    case wanted::delivered_everywhere:
      return early_[which];
    case wanted::one_event_everywhere:
    case wanted::changes_at_most:
      return judge_events(item);
    case wanted::ring_versions_at_most:
    case wanted::disagreement_at_most:
    case wanted::rows_at_most:
    case wanted::packets_at_most:
    case wanted::bytes_at_most:
    case wanted::health_at_most:
      return judge_amount(which);
    case wanted::isolated:
      return judge_isolation(item);
  }
  return {};
}

verdict expectations::judge_agreement(const expectation& item) const {
  const auto later = std::upper_bound(disturbances_.begin(), disturbances_.end(), item.moment);
  const base::duration next = later == disturbances_.end() ? scenario_.until + duration{1} : *later;
  const time_point from = moment(std::min(item.moment + item.within, next - duration{1}));
  verdict result;
  result.met = run_.story.agreed_throughout(from, moment(next));
  if (result.met) {
    // How long it really took: the start of the stretch of agreement that `from` lies in.
    time_point since = moment(item.moment);
    for (const auto& turn : run_.story.turns())
      if (turn.at <= from && turn.agreed) since = std::max(since, turn.at);
    result.detail = "agreed after " + to_string(since - moment(item.moment));
  } else if (run_.story.agreed_at(from)) {
    result.detail = "agreed in time, but not throughout";
  } else {
    for (const auto& turn : run_.story.turns())
      if (turn.agreed && turn.at > from) {
        result.detail = "agreed only after " + to_string(turn.at - moment(item.moment));
        return result;
      }
    result.detail =
        "not agreed to the end; distinct views now: " + std::to_string(run_.told.distinct_views());
  }
  return result;
}

verdict expectations::judge_absence(const expectation& item) const {
  const time_point after = moment(item.moment);
  const auto& failures = run_.story.false_failures();
  if (item.what == wanted::no_suspicions) {
    const auto& times = run_.story.suspicions();
    const auto count =
        std::count_if(times.begin(), times.end(), [&](time_point at) { return at >= after; });
    return {0, {}, count == 0, std::to_string(count) + " suspicions"};
  }
  const auto is_after = [after](const false_failure& one) { return one.at >= after; };
  const auto count = std::count_if(failures.begin(), failures.end(), is_after);
  std::string detail = std::to_string(count) + " false failures";
  const auto first = std::find_if(failures.begin(), failures.end(), is_after);
  if (first != failures.end()) {
    detail += ", the first at " + to_string(first->at - world_begin) + ": " +
              about(first->subject) + " at " + about(first->observer);
  }
  return {0, {}, count == 0, detail};
}

/// Among these nothing excuses one; at others what excuses a failure otherwise does.
verdict expectations::judge_failures(const expectation& item) const {
  const time_point after = moment(item.moment);
  const auto broken = [](node_id subject, node_id by, time_point at) {
    const std::string when = to_string(at - world_begin);
    return verdict{0, {}, false, about(by) + " had " + about(subject) + " failed at " + when};
  };
  for (const auto& one : run_.story.noted()) {
    if (one.kind == event_kind::failed && one.at >= after && item.who.contains(one.subject) &&
        item.who.contains(one.observer)) {
      return broken(one.subject, one.observer, one.at);
    }
  }
  for (const auto& one : run_.story.false_failures()) {
    if (one.at >= after && item.who.contains(one.subject)) {
      return broken(one.subject, one.observer, one.at);
    }
  }
  return {0, {}, true, "none of them failed"};
}

verdict expectations::judge_amount(item_id which) const {
  const expectation& item = scenario_.expectations[which];
  double seen = 0;
  auto limit = static_cast<double>(item.limit);
  const auto base = baselines_.find(which);
  const snapshot from = base == baselines_.end() ? snapshot{} : base->second;
  const auto& sent = run_.sent.so_far();
  const auto seconds = static_cast<double>(sent.member_seconds - from.sent.member_seconds);
  if (item.what == wanted::rows_at_most) {
    seen = static_cast<double>(run_.story.rows_max());
  } else if (item.what == wanted::health_at_most) {
    seen = static_cast<double>(worst_health_.at(which));
  } else if (item.what == wanted::disagreement_at_most) {
    seen = run_.rings.integral() - from.disagreement;
    limit = std::chrono::duration<double>(item.within).count();
  } else if (item.what == wanted::packets_at_most) {
    seen = seconds > 0 ? static_cast<double>(sent.packets - from.sent.packets) / seconds : 0;
  } else if (item.what == wanted::bytes_at_most) {
    seen = seconds > 0 ? static_cast<double>(sent.bytes - from.sent.bytes) / seconds : 0;
  } else {
    distribution versions;
    for (node_id node = 1; node <= run_.world.size(); ++node) {
      if (!judges(node, moment(item.moment))) continue;
      const auto before = node < from.versions.size() ? from.versions[node] : 0;
      versions.add(run_.told.versions(node) - before);
    }
    seen = static_cast<double>(versions.percentile(95));
  }
  return {0, {}, seen <= limit, with_places(seen)};
}

verdict expectations::judge_events(const expectation& item) const {
  const node_id count = run_.world.size();
  std::map<std::pair<node_id, node_id>, std::uint64_t> events;
  for (const auto& one : run_.story.noted()) {
    if (one.at < moment(item.moment) || one.observer == one.subject) continue;
    if (one.kind == event_kind::suspected || one.kind == event_kind::recovered) continue;
    if (item.what == wanted::changes_at_most && one.kind == event_kind::updated) continue;
    ++events[{one.observer, one.subject}];
  }
  std::uint64_t most = 0;
  for (const node_id subject : item.who.members(count)) {
    for (node_id at = 1; at <= count; ++at) {
      if (at == subject || item.who.contains(at) || !judges(at, moment(item.moment))) continue;
      const std::uint64_t seen = events[{at, subject}];
      most = std::max(most, seen);
      if (item.what == wanted::one_event_everywhere ? seen != 1 : seen > item.limit) {
        return {0,
                {},
                false,
                about(at) + " had " + std::to_string(seen) + " events about " + about(subject)};
      }
    }
  }
  return {0, {}, true, "at most " + std::to_string(most) + " events at one member"};
}

verdict expectations::judge_isolation(const expectation& item) const {
  for (const node_id node : item.who.members(run_.world.size())) {
    const auto at = run_.story.isolated_at(node);
    if (!at || *at < moment(item.moment) || *at > moment(item.moment + item.within)) {
      return {0,
              {},
              false,
              about(node) + (at ? " said so at " + to_string(*at - world_begin)
                                : std::string(" never said so"))};
    }
  }
  return {0, {}, true, {}};
}

/// A member whose word counts: it has run since then, and neither stands still nor says goodbye.
bool expectations::judges(node_id which, time_point since) const {
  return run_.world.running(which) && !run_.world.hosts.hampered(which) &&
         !run_.world.at(which).stopping() && started_[which] <= since;
}

void expectations::look_now(item_id which) {
  const expectation& item = scenario_.expectations[which];
  if (item.what == wanted::delivered_everywhere) {
    early_[which] = judge_deliveries(which);
    return;
  }
  verdict result{0, {}, true, {}};
  std::uint64_t missed = 0;
  for (const node_id subject : item.who.members(run_.world.size())) {
    for (node_id at = 1; at <= run_.world.size(); ++at) {
      if (at == subject || !judges(at, moment(item.moment))) continue;
      const std::string lack = missing(item, at, subject);
      if (lack.empty()) continue;
      if (missed++ == 0) result.detail = about(at) + ": " + about(subject) + " " + lack;
    }
  }
  result.met = missed == 0;
  if (missed > 1) result.detail += ", and " + std::to_string(missed - 1) + " more";
  early_[which] = result;
}

std::string expectations::missing(const expectation& item, node_id at, node_id subject) const {
  const auto belief = run_.told.of(at, subject);
  const std::string state = belief ? std::string(to_string(belief->state)) : "unknown";
  switch (item.what) {
    case wanted::failed_everywhere:
      return belief && belief->state == member_state::failed ? "" : "is " + state;
    case wanted::left_everywhere:
      return belief && belief->state == member_state::left ? "" : "is " + state;
    default:
      break;
  }
  if (!run_.world.running(subject)) return "doesn't run";
  const auto& own = run_.world.pool.intern(run_.world.at(subject).machine().self());
  if (!belief || !belief->present()) return "is " + state;
  if (belief->record->value->epoch != own.value->epoch) return "is known in an older life";
  if (item.what == wanted::known_everywhere && belief->record->content != own.content) {
    return "is known with older data";
  }
  return {};
}

verdict expectations::judge_deliveries(item_id which) const {
  const expectation& item = scenario_.expectations[which];
  const auto found = run_.story.deliveries().find(item.text);
  node_set origin;
  for (const auto& what : scenario_.happenings)
    if (what.what == happening::kind::broadcast && what.text == item.text) origin = what.who;
  for (node_id at = 1; at <= run_.world.size(); ++at) {
    if (origin.contains(at) || !judges(at, moment(item.moment))) continue;
    const std::uint32_t times = found == run_.story.deliveries().end() ? 0 : found->second[at];
    if (times != 1) {
      return {0, {}, false, about(at) + " heard it " + std::to_string(times) + " times"};
    }
  }
  return {0, {}, true, {}};
}

expectations::snapshot expectations::take_snapshot() const {
  snapshot result;
  result.disagreement = run_.rings.integral();
  result.sent = run_.sent.so_far();
  for (node_id node = 0; node <= run_.world.size(); ++node)
    result.versions.push_back(run_.told.versions(node));
  return result;
}

}  // namespace lifering::sim
