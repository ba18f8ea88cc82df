// The public ring: changes, one at a time, each of them published whole.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <lifering/ring.hpp>
#include <mutex>
#include <optional>
#include <thread>

#include "base/check.hpp"
#include "base/text.hpp"
#include "ring/node_set.hpp"
#include "ring/publication.hpp"
#include "ring/snapshot.hpp"

namespace lifering {

namespace ring_detail {

class ring_core {
 public:
  explicit ring_core(placement_options options)
      : rules_(std::make_shared<const ring_rules>(std::move(options))),
        published_(std::make_shared<const snapshot>(rules_)) {}

  ~ring_core() { LIFERING_CHECK(process_ != ::getpid() || !stays_pinned()); }

  ring_core(const ring_core&) = delete;
  ring_core& operator=(const ring_core&) = delete;

  /// Runs `edit`, which makes the next set of nodes from the current one, and publishes the ring of
  /// that set if it is another one.
  template <class Edit>
  ring_change change(std::error_code& error, Edit edit) {
    const std::lock_guard lock{writers_};
    const snapshot& current = *published_.latest();
    error.clear();
    node_set next = edit(current.records(), error);
    if (!error && !snapshot::fits(*rules_, next)) {
      error = errc::too_many_points;
    }
    ring_change result{false, current.version(), current.fingerprint(), current.nodes().size(), 0};
    if (error || next == current.records()) {
      return result;
    }
    auto state = std::make_shared<const snapshot>(current, std::move(next), result.moved);
    result.changed = true;
    result.version = state->version();
    result.fingerprint = state->fingerprint();
    result.nodes = state->nodes().size();
    published_.publish(std::move(state));
    return result;
  }

  auto acquire() const noexcept { return published_.acquire(); }
  const ring_rules& rules() const noexcept { return *rules_; }

 private:
  /// Whether a view is left at the end. What isn't a view, but names a state of ours for a moment
  /// (see publication::is_pinned), is given a second to look again.
  bool stays_pinned() noexcept {
    for (int looks = 0; looks < 1000; ++looks) {
      if (!published_.is_pinned()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
  }

  std::shared_ptr<const ring_rules> rules_;
  std::mutex writers_;
  publication<snapshot> published_;
  // In a child made by fork(), slots name what threads read that are the parent's only.
  pid_t process_ = ::getpid();
};

namespace {

placement_options checked(placement_options options) {
  throw_if(options.validate());
  return options;
}

/// Throws the error, naming the call. Makes no text of a change that was published: it might find
/// no memory, and what is thrown means that nothing has changed.
ring_change thrown(const std::error_code& error, ring_change change, std::string_view function,
                   std::optional<std::string_view> node = {}) {
  if (error) {
    std::string what = "hash_ring::" + std::string{function};
    if (node) what += '(' + base::quoted(*node) + ')';
    throw std::system_error(error, what);
  }
  return change;
}

}  // namespace

}  // namespace ring_detail

using ring_detail::find_node;
using ring_detail::node_record;
using ring_detail::node_set;
using ring_detail::thrown;

hash_ring::hash_ring() : hash_ring(placement_options{}) {}

hash_ring::hash_ring(placement_options options)
    : core_(std::make_unique<ring_detail::ring_core>(ring_detail::checked(std::move(options)))) {}

hash_ring::~hash_ring() = default;
hash_ring::hash_ring(hash_ring&&) noexcept = default;
hash_ring& hash_ring::operator=(hash_ring&&) noexcept = default;

ring_change hash_ring::add(ring_node node, std::error_code& error) {
  return core_->change(error, [&node](const node_set& current, std::error_code& failed) {
    node_set next;
    if (failed = ring_detail::check_node(node); failed) {
      return next;
    }
    const auto [index, found] = find_node(current, node.name);
    if (found) {
      failed = errc::duplicate_node;
      return next;
    }
    const auto at = current.begin() + static_cast<std::ptrdiff_t>(index);
    next.reserve(current.size() + 1);
    next.assign(current.begin(), at);
    next.push_back(std::make_shared<const node_record>(std::move(node)));
    next.insert(next.end(), at, current.end());
    return next;
  });
}

ring_change hash_ring::remove(std::string_view name, std::error_code& error) {
  return core_->change(error, [name](const node_set& current, std::error_code& failed) {
    const auto [index, found] = find_node(current, name);
    if (!found) {
      failed = name.empty() ? errc::empty_name : errc::unknown_node;
      return node_set{};
    }
    node_set next = current;
    next.erase(next.begin() + static_cast<std::ptrdiff_t>(index));
    return next;
  });
}

ring_change hash_ring::set_weight(std::string_view name, lifering::weight value,
                                  std::error_code& error) {
  return core_->change(error, [&](const node_set& current, std::error_code& failed) {
    const auto [index, found] = find_node(current, name);
    if (!found) {
      failed = name.empty() ? errc::empty_name : errc::unknown_node;
      return node_set{};
    }
    node_set next = current;
    if (next[index]->node.weight != value) {
      ring_node node = next[index]->node;
      node.weight = value;
      next[index] = std::make_shared<const node_record>(std::move(node));
    }
    return next;
  });
}

ring_change hash_ring::assign(std::vector<ring_node> nodes, std::error_code& error) {
  return core_->change(error, [&nodes](const node_set& current, std::error_code& failed) {
    return ring_detail::make_set(std::move(nodes), current, failed);
  });
}

ring_change hash_ring::reset() {
  std::error_code never;
  return core_->change(never, [](const node_set&, std::error_code&) { return node_set{}; });
}

ring_change hash_ring::add(ring_node node) {
  std::error_code error;
  const std::string name = node.name;
  const ring_change change = add(std::move(node), error);
  return thrown(error, change, "add", name);
}

ring_change hash_ring::remove(std::string_view name) {
  std::error_code error;
  const ring_change change = remove(name, error);
  return thrown(error, change, "remove", name);
}

ring_change hash_ring::set_weight(std::string_view name, lifering::weight value) {
  std::error_code error;
  const ring_change change = set_weight(name, value, error);
  return thrown(error, change, "set_weight", name);
}

ring_change hash_ring::assign(std::vector<ring_node> nodes) {
  std::error_code error;
  const ring_change change = assign(std::move(nodes), error);
  return thrown(error, change, "assign");
}

ring_view hash_ring::view() const noexcept {
  const auto pin = core_->acquire();
  return {pin.state, pin.slot};
}

ring_snapshot hash_ring::snapshot() const {
  return view().keep();
}

std::optional<std::string> hash_ring::owner(std::string_view key) const {
  const ring_view now = view();
  const ring_node* node = now.owner(key);
  return node == nullptr ? std::nullopt : std::optional{node->name};
}

std::vector<std::string> hash_ring::owners(std::string_view key, std::size_t n) const {
  const ring_view now = view();
  std::vector<std::string> names;
  for (const ring_node* node : now.owners(key, n)) {
    names.push_back(node->name);
  }
  return names;
}

std::vector<ring_node> hash_ring::nodes() const {
  const ring_view now = view();
  std::vector<ring_node> copies;
  for (const ring_node* node : now.nodes()) {
    copies.push_back(*node);
  }
  return copies;
}

std::size_t hash_ring::size() const noexcept {
  return view().size();
}
std::size_t hash_ring::points() const noexcept {
  return view().points();
}
std::uint64_t hash_ring::fingerprint() const noexcept {
  return view().fingerprint();
}

const placement_options& hash_ring::placement() const noexcept {
  return core_->rules().options;
}

}  // namespace lifering
