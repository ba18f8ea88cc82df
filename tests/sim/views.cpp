#include "sim/views.hpp"

#include <utility>

#include "base/check.hpp"

namespace lifering::sim {
namespace {

bool is_present(member_state state) noexcept {
  return state == member_state::alive || state == member_state::suspect;
}

}  // namespace

std::string_view misplaced_event(event_kind kind, std::optional<member_state> before,
                                 member_state after) noexcept {
  const bool was_present = before && is_present(*before);
  switch (kind) {
    case event_kind::joined:
      if (was_present) return "joined, though it was present";
      if (!is_present(after)) return "joined, though it isn't present now";
      return {};
    case event_kind::updated:
      if (!was_present) return "updated, though it wasn't present";
      if (!is_present(after)) return "updated, though it isn't present now";
      return {};
    case event_kind::suspected:
      if (before != member_state::alive) return "suspected, though it wasn't alive";
      if (after != member_state::suspect) return "suspected, though it isn't suspect now";
      return {};
    case event_kind::recovered:
      if (before != member_state::suspect) return "recovered, though it wasn't suspect";
      if (after != member_state::alive) return "recovered, though it isn't alive now";
      return {};
    case event_kind::failed:
      if (before == member_state::left) return "failed, though it had left";
      if (!was_present) return "failed, though it wasn't present";
      if (after != member_state::failed) return "failed, though its state is another";
      return {};
    case event_kind::left:
      if (!was_present) return "left, though it wasn't present";
      if (after != member_state::left) return "left, though its state is another";
      return {};
    case event_kind::superseded:
    case event_kind::isolated:
      return {};
  }
  return "an event of no known kind";
}

views::views(cluster& of)
    : cluster_(of), nodes_(of.size() + std::size_t{1}), true_content_(of.size() + std::size_t{1}) {}

std::optional<views::belief> views::of(node_id at, node_id subject) const {
  const auto& beliefs = nodes_[at].beliefs;
  if (subject >= beliefs.size() || beliefs[subject] == 0) return std::nullopt;
  return belief{&cluster_.pool.at((beliefs[subject] >> 2) - 1),
                static_cast<member_state>(beliefs[subject] & 3)};
}

bool views::agreed() const {
  return contents_.size() == 1 && rings_.size() == 1 && contents_.begin()->first == truth_;
}

views::sums views::sums_of(node_id at) const {
  sums result;
  cluster_.at(at).machine().for_each_member(
      [&](const swim::record_ptr& record, std::uint64_t, member_state is) {
        if (!is_present(is)) return;
        const pooled& known = cluster_.pool.intern(record);
        result.content += known.content;
        result.share += known.share;
        ++result.present;
      });
  return result;
}

void views::on_started(node_id which) {
  state& of = nodes_[which];
  LIFERING_CHECK(!of.live);
  of = state{};
  of.beliefs.resize(cluster_.size() + std::size_t{1});
  of.live = true;
  ++live_;
  cluster_.at(which).machine().for_each_member(
      [&](const swim::record_ptr& record, std::uint64_t, member_state is) {
        const pooled& known = cluster_.pool.intern(record);
        if (known.node != 0 && known.node <= cluster_.size()) {
          believe(which, known.node, known, is);
        }
      });
  ++contents_[of.content];
  ++rings_[of.published];
  follow_self(which);
  publish(which);
}

void views::on_stopped(node_id which) {
  state& of = nodes_[which];
  of.live = false;
  --live_;
  if (--contents_[of.content] == 0) contents_.erase(of.content);
  if (--rings_[of.published] == 0) rings_.erase(of.published);
  truth_ -= std::exchange(true_content_[which], 0);
  of.beliefs = {};
}

void views::on_event(node_id at, const swim::member_changed& what) {
  if (what.kind == event_kind::superseded || what.kind == event_kind::isolated) return;
  const pooled& known = cluster_.pool.intern(what.subject);
  if (known.node == 0 || known.node > cluster_.size()) {
    cluster_.broken.add(at, "an event about \"" + what.subject->name + "\", which nobody started");
    return;
  }
  const auto before = of(at, known.node);
  const auto wrong =
      misplaced_event(what.kind, before ? std::optional(before->state) : std::nullopt, what.state);
  if (!wrong.empty()) {
    cluster_.broken.add(
        at, "event about node-" + std::to_string(known.node) + ": " + std::string(wrong));
  }
  if (what.kind == event_kind::joined && before && before->state == member_state::failed &&
      before->record->value->epoch == known.value->epoch) {
    ++revivals_;
  }
  const std::uint64_t old = nodes_[at].content;
  believe(at, known.node, known, what.state);
  if (nodes_[at].live) move(contents_, old, nodes_[at].content);
}

void views::on_step(node_id at, const swim::packet*) {
  if (!nodes_[at].live) return;
  follow_self(at);
  publish_if_due(at);
}

void views::believe(node_id at, node_id subject, const pooled& record, member_state now) {
  state& holder = nodes_[at];
  if (const auto before = of(at, subject); before && before->present()) {
    holder.content -= before->record->content;
    holder.share -= before->record->share;
    --holder.present;
  }
  if (is_present(now)) {
    holder.content += record.content;
    holder.share += record.share;
    ++holder.present;
  }
  LIFERING_CHECK(record.index < (std::uint32_t{1} << 30) - 1);
  holder.beliefs[subject] = ((record.index + 1) << 2) | static_cast<std::uint32_t>(now);
}

void views::follow_self(node_id at) {
  // A member has no event of its own arrival or of its own new epoch.
  state& of_it = nodes_[at];
  const auto& record = cluster_.at(at).machine().self();
  const bool held_down = cluster_.at(at).machine().held_down();
  if (record.get() == of_it.self && held_down == of_it.held_down) return;
  of_it.self = record.get();
  of_it.held_down = held_down;
  const pooled& known = cluster_.pool.intern(record);
  // Who is held down belongs to nobody's view, its own included.
  const std::uint64_t content = held_down ? 0 : known.content;
  truth_ += content - std::exchange(true_content_[at], content);
  const auto mine = of(at, at);
  const std::uint64_t old = of_it.content;
  believe(at, at, known, mine ? mine->state : member_state::alive);
  move(contents_, old, of_it.content);
}

void views::publish_if_due(node_id at) {
  state& of_it = nodes_[at];
  if (of_it.share == of_it.published || of_it.publish_due) return;
  const time_point now = cluster_.world.now();
  if (now >= of_it.may_publish) return publish(at);
  of_it.publish_due = true;
  const auto life = cluster_.hosts.life(at);
  cluster_.world.at(of_it.may_publish, [this, at, life] {
    if (!cluster_.hosts.running(at) || life != cluster_.hosts.life(at)) return;
    nodes_[at].publish_due = false;
    if (nodes_[at].share != nodes_[at].published) publish(at);
  });
}

void views::publish(node_id at) {
  state& of_it = nodes_[at];
  move(rings_, of_it.published, of_it.share);
  of_it.published = of_it.share;
  of_it.may_publish = cluster_.world.now() + gather;
  ++of_it.versions;
  ++publications_;
  cluster_.at(at).machine().set_ring_fingerprint(of_it.share);
}

void views::move(census& in, std::uint64_t from, std::uint64_t to) {
  if (from == to) return;
  if (--in[from] == 0) in.erase(from);
  ++in[to];
}

}  // namespace lifering::sim
