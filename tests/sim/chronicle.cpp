#include "sim/chronicle.hpp"

#include <algorithm>

namespace lifering::sim {

chronicle::chronicle(cluster& of, const views& told)
    : cluster_(of),
      told_(told),
      noted_subjects_(of.size() + std::size_t{1}),
      turns_{{world_begin, false}},
      isolated_(of.size() + std::size_t{1}) {}

void chronicle::crashed(node_id which, std::uint64_t epoch) {
  crashes_.push_back({which, cluster_.world.now(), epoch, {}, {}, false, false});
}

const std::vector<crash_story>& chronicle::crashes() {
  for (auto& story : crashes_)
    if (!story.closed) settle(story);
  return crashes_;
}

void chronicle::settle(crash_story& story) const {
  story.complete = story.last.has_value();
  for (node_id which = 1; which <= cluster_.size() && story.complete; ++which) {
    if (!cluster_.running(which)) continue;
    const auto belief = told_.of(which, story.node);
    if (belief && belief->present() && belief->record->value->epoch == story.epoch) {
      story.complete = false;
    }
  }
}

bool chronicle::agreed_at(time_point when) const {
  bool agreed = false;
  for (const turn& item : turns_) {
    if (item.at > when) break;
    agreed = item.agreed;
  }
  return agreed;
}

bool chronicle::agreed_throughout(time_point from, time_point to) const {
  return agreed_at(from) && std::none_of(turns_.begin(), turns_.end(), [&](const turn& item) {
           return !item.agreed && item.at > from && item.at < to;
         });
}

std::optional<time_point> chronicle::agreed_since() const {
  if (!turns_.back().agreed) return std::nullopt;
  return turns_.back().at;
}

void chronicle::on_started(node_id which) {
  for (auto& story : crashes_) {
    if (story.node != which || story.closed) continue;
    settle(story);
    story.closed = true;
  }
  look();
}

void chronicle::on_stopped(node_id) {
  look();
}

void chronicle::on_event(node_id at, const swim::member_changed& what) {
  ++events_[static_cast<std::size_t>(what.kind)];
  if (what.kind == event_kind::isolated) {
    if (!isolated_[at]) isolated_[at] = cluster_.world.now();
    return;
  }
  if (!what.subject) return;
  const node_id subject = node_of(what.subject->name);
  if (subject == 0 || subject > cluster_.size()) return;
  if (what.kind == event_kind::suspected) suspicions_.push_back(cluster_.world.now());
  if (what.kind == event_kind::failed) failed(at, subject, what.subject->epoch);
  if (noted_subjects_[subject]) {
    noted_.push_back({cluster_.world.now(), at, subject, what.kind});
  }
}

void chronicle::failed(node_id at, node_id subject, std::uint64_t epoch) {
  const time_point now = cluster_.world.now();
  for (auto& story : crashes_) {
    if (story.closed || story.node != subject || story.epoch != epoch) continue;
    story.last = now - story.at;
    if (!story.first) story.first = story.last;
  }
  // Who doesn't run has failed, and an older life is gone, whoever says so.
  if (!cluster_.running(subject)) return;
  if (cluster_.at(subject).machine().self()->epoch != epoch) return;
  if (!cluster_.faults.excuses(now, at, subject)) false_failures_.push_back({now, at, subject});
}

void chronicle::on_step(node_id at, const swim::packet*) {
  if (cluster_.running(at)) {
    const auto& machine = cluster_.at(at).machine();
    rows_max_ = std::max(rows_max_, machine.present_members() + machine.graves());
  }
  look();
}

void chronicle::look() {
  rings_max_ = std::max(rings_max_, told_.distinct_rings());
  const bool agreed = told_.agreed();
  if (agreed == turns_.back().agreed) return;
  // Several changes within one moment leave the last one.
  if (turns_.size() > 1 && turns_.back().at == cluster_.world.now()) {
    turns_.pop_back();
  } else {
    turns_.push_back({cluster_.world.now(), agreed});
  }
}

void chronicle::on_user_message(node_id at, const swim::user_received& what) {
  auto& heard = deliveries_[what.payload];
  heard.resize(cluster_.size() + std::size_t{1});
  ++heard[at];
}

}  // namespace lifering::sim
