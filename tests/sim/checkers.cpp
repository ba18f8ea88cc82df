#include "sim/checkers.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace lifering::sim {
namespace {

using swim::evidence;

/// Clusters up to this size have every row looked at after every step.
constexpr node_id rows_at_once = 8;

bool is_present(member_state state) noexcept {
  return state == member_state::alive || state == member_state::suspect;
}

}  // namespace

std::string_view broken_record(const std::optional<evidence>& before,
                               const std::optional<evidence>& now) noexcept {
  if (!before) return {};
  if (!now) return is_present(before->state) ? "a present member was forgotten" : "";
  if (now->epoch < before->epoch) return "the recorded epoch fell";
  if (now->epoch > before->epoch) return {};
  if (now->incarnation < before->incarnation) return "the recorded incarnation fell";
  if (before->state == member_state::left && now->state != member_state::left) {
    return "a life that left came back";
  }
  if (*now < *before) {
    return is_present(now->state) && !is_present(before->state)
               ? "a gone member was revived without newer evidence"
               : "a claim was taken back without newer evidence";
  }
  return {};
}

std::string_view broken_self(const std::optional<evidence>& own, bool leaving,
                             bool held_down) noexcept {
  if (!own) return "a running member doesn't list itself";
  if (held_down) {
    return own->state == member_state::failed ? ""
                                              : "a member that is held down lists itself alive";
  }
  if (own->state == member_state::left && leaving) return {};
  if (!is_present(own->state)) return "a running member lists itself dead";
  return {};
}

std::string_view broken_limit(const table_sizes& sizes, const swim::config& limits) noexcept {
  if (sizes.present > limits.limits.members) return "more members than the limit";
  if (sizes.graves > limits.limits.graves) return "more graves than the limit";
  if (sizes.queued > sizes.present + sizes.graves + 1) return "more news queued than subjects";
  if (sizes.suspicions > sizes.present) return "more suspicions than members";
  if (sizes.health > limits.local_health_max) return "local health beyond its scale";
  return {};
}

std::string_view broken_view(const views::sums& told, const views::sums& held) noexcept {
  if (told.present != held.present) return "events told of other members than the view holds";
  if (told.share != held.share) return "the ring isn't the function of the members";
  if (told.content != held.content) return "a member changed without an event";
  return {};
}

checkers::checkers(cluster& of, const views& told)
    : cluster_(of),
      told_(told),
      nodes_(of.size() + std::size_t{1}),
      forgettable_(of.size() + std::size_t{1}),
      names_(of.size() + std::size_t{1}) {
  for (node_id which = 1; which <= of.size(); ++which)
    names_[which] = name_of(which);
}

void checkers::on_started(node_id which) {
  nodes_[which] = state{};
  if (cluster_.size() <= rows_followed) nodes_[which].cells.resize(cluster_.size() + 1UL);
}

void checkers::on_step(node_id at, const swim::packet* heard) {
  if (!cluster_.running(at)) return;
  state& mine = nodes_[at];
  check_row(at, at);
  if (heard != nullptr) check_rows_heard(at, *heard);
  // The others in turn, so that each row is looked at every few steps.
  for (node_id i = 0; i < std::min(rows_at_once, cluster_.size()); ++i) {
    check_row(at, mine.next_row);
    mine.next_row = mine.next_row % cluster_.size() + 1;
  }
  check_sizes(at);
  if (++mine.steps >= std::max<std::size_t>(cluster_.size() / rows_at_once, 1)) {
    mine.steps = 0;
    check_view(at);
  }
}

void checkers::check_rows_heard(node_id at, const swim::packet& heard) {
  const auto check = [&](std::string_view name) {
    const node_id subject = node_of(name);
    if (subject != 0 && subject <= cluster_.size()) check_row(at, subject);
  };
  check(heard.from.name);
  for (const auto& item : heard.updates)
    check(item.subject_name());
  if (cluster_.size() <= rows_at_once) return;
  if (const auto* part = std::get_if<swim::view_rows>(&heard.body)) {
    for (const auto& row : part->rows)
      if (row.subject) check(row.subject->name);
  }
}

void checkers::check_row(node_id at, node_id subject) {
  ++checks_;
  swim::view_row row;
  std::optional<evidence> now;
  if (cluster_.at(at).machine().find_member(names_[subject], row)) {
    now = evidence{row.subject->epoch, row.incarnation, row.state};
  }
  if (at == subject) {
    const bool away = cluster_.at(at).stopping();
    const bool held = cluster_.at(at).machine().held_down();
    if (const auto wrong = broken_self(now, away, held); !wrong.empty()) {
      cluster_.broken.add(at, std::string(wrong));
    }
  }
  auto& cells = nodes_[at].cells;
  if (cells.empty()) return;
  cell& last = cells[subject];
  const auto before =
      last.known ? std::optional(evidence{last.epoch, last.incarnation, last.state}) : std::nullopt;
  const auto wrong = broken_record(before, now);
  if (!wrong.empty() && !(forgettable_[subject] && !now)) {
    cluster_.broken.add(at, "about " + names_[subject] + ": " + std::string(wrong));
  }
  last.known = now.has_value();
  if (!now) return;
  last.epoch = now->epoch;
  last.incarnation =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(now->incarnation, ~std::uint32_t{0}));
  last.state = now->state;
}

void checkers::check_sizes(node_id at) {
  const auto& machine = cluster_.at(at).machine();
  const table_sizes sizes{machine.present_members(), machine.graves(), machine.queued_updates(),
                          machine.suspicions(), machine.local_health()};
  const auto wrong = broken_limit(sizes, machine.settings());
  if (!wrong.empty()) cluster_.broken.add(at, std::string(wrong));
}

void checkers::check_view(node_id at) {
  // A member that says goodbye counts itself out before it is gone.
  if (cluster_.at(at).stopping()) return;
  const views::sums told{told_.content(at), told_.share(at), told_.present(at)};
  const auto wrong = broken_view(told, told_.sums_of(at));
  if (!wrong.empty()) cluster_.broken.add(at, std::string(wrong));
}

}  // namespace lifering::sim
