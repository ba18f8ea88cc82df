#include "sim/disagreement.hpp"

#include <algorithm>
#include <lifering/ring.hpp>
#include <utility>

namespace lifering::sim {
namespace {

constexpr std::size_t rings_kept = 256;

placement_options placement() {
  // Few points: how evenly keys spread doesn't matter here, how fast rings are built does.
  auto result = placement_options::mixed();
  result.vnodes = 16;
  return result;
}

double seconds(duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

disagreement::disagreement(cluster& of, const views& told)
    : cluster_(of), told_(told), place_of_(of.size() + std::size_t{1}, watched_max) {
  const std::size_t count = std::min<std::size_t>(of.size(), watched_max);
  for (std::size_t i = 0; i < count; ++i) {
    const auto which = static_cast<node_id>(1 + i * of.size() / count);
    place_of_[which] = i;
    watched_.push_back(which);
  }
  rings_.resize(count);
  seen_.resize(count);
}

double disagreement::integral() const {
  return total_ + present_ * seconds(cluster_.world.now() - since_);
}

void disagreement::on_stopped(node_id which) {
  const std::size_t place = place_of_[which];
  if (place == watched_max) return;
  rings_[place].reset();
  measure_soon();
}

void disagreement::on_step(node_id at, const swim::packet*) {
  if (place_of_[at] != watched_max && cluster_.running(at)) look(at);
}

void disagreement::look(node_id at) {
  const std::size_t place = place_of_[at];
  if (place == watched_max) return;
  if (rings_[place] && seen_[place] == told_.published(at)) return;
  // Between two publications a member's ring is older than its view, and stays as it is here.
  if (told_.published(at) != told_.share(at)) return;
  seen_[place] = told_.published(at);
  rings_[place] = ring_of(at);
  measure_soon();
}

disagreement::ring_pointer disagreement::ring_of(node_id at) {
  const std::uint64_t set = told_.share(at);
  if (const auto found = known_.find(set); found != known_.end()) return found->second;
  std::vector<ring_node> nodes;
  nodes.reserve(told_.present(at));
  for (node_id subject = 1; subject <= cluster_.size(); ++subject) {
    const auto belief = told_.of(at, subject);
    if (belief && belief->present()) nodes.push_back(ring_node_of(*belief->record->value));
  }
  hash_ring ring(placement());
  ring.assign(std::move(nodes));
  ++built_;
  auto result = std::make_shared<shared_ring>();
  result->fingerprint = ring.fingerprint();
  const auto view = ring.view();
  for (std::size_t i = 0; i < places; ++i) {
    const ring_node* owner = view.owner_at(static_cast<std::uint32_t>(i << 24));
    result->owners[i] = owner == nullptr ? 0 : static_cast<std::uint16_t>(node_of(owner->name));
  }
  const auto [entry, is_new] = by_fingerprint_.try_emplace(result->fingerprint, set);
  if (!is_new && entry->second != set) {
    cluster_.broken.add(at, "two sets of members have one ring fingerprint");
  }
  if (known_.size() >= rings_kept) {
    std::erase_if(known_, [](const auto& item) { return item.second.use_count() == 1; });
  }
  known_[set] = result;
  return result;
}

void disagreement::measure_soon() {
  if (due_) return;
  due_ = true;
  cluster_.world.after(resolution, [this] {
    due_ = false;
    measure();
  });
}

void disagreement::measure() {
  total_ = integral();
  since_ = cluster_.world.now();
  std::vector<const shared_ring*> running;
  for (const auto& ring : rings_)
    if (ring) running.push_back(ring.get());
  present_ = 0;
  if (running.size() < 2) return;
  const bool same = std::all_of(running.begin(), running.end(), [&](const shared_ring* ring) {
    return ring->fingerprint == running.front()->fingerprint;
  });
  if (same) return;
  // Of n members, those that name one owner form groups; pairs within a group agree.
  std::uint64_t agreeing = 0;
  std::vector<std::uint32_t> votes(cluster_.size() + std::size_t{1});
  for (std::size_t i = 0; i < places; ++i) {
    for (const auto* ring : running)
      agreeing += votes[ring->owners[i]]++;
    for (const auto* ring : running)
      votes[ring->owners[i]] = 0;
  }
  const double pairs =
      static_cast<double>(running.size()) * static_cast<double>(running.size() - 1) / 2 * places;
  present_ = 1 - static_cast<double>(agreeing) / pairs;
}

}  // namespace lifering::sim
