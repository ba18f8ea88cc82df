// lifering-ring report: how even a placement is and what moves, from exact arcs, not from keys.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>

#include "arguments.hpp"
#include "names.hpp"
#include "nodes.hpp"
#include "plot.hpp"
#include "text.hpp"

namespace ring_tool {

namespace {

using clock = std::chrono::steady_clock;

constexpr double circle = 4294967296.0;

struct request {
  lifering::placement_options placement;
  name_family family = name_family::ip;
  std::uint32_t nodes = 0;
  std::uint32_t set = 0;
  std::string plot;
};

request read_request(arguments& args) {
  request r;
  bool has_nodes = false;
  while (!args.done()) {
    if (!args.next_is_flag()) {
      throw usage_error("report takes no word \"" + args.value() + "\"; see lifering-ring --help");
    }
    if (args.flag() == "--nodes") {
      r.nodes = args.number();
      has_nodes = true;
    } else if (args.flag() == "--names") {
      const std::string word = args.value();
      const auto family = parse_family(word);
      if (!family) {
        throw usage_error("names \"" + word + "\" are unknown; use ip, pod, padded or uuid");
      }
      r.family = *family;
    } else if (args.flag() == "--set") {
      r.set = args.number();
    } else if (args.flag() == "--plot") {
      r.plot = args.value();
    } else if (!take_placement_flag(args, r.placement)) {
      unknown_flag(args.flag(), "report");
    }
  }
  check(r.placement);
  if (!has_nodes) {
    throw usage_error("the number of nodes is missing; use --nodes N, 1 to 100000");
  }
  if (r.nodes < 1 || r.nodes > 100'000) {
    throw usage_error("--nodes is " + std::to_string(r.nodes) + "; use 1 to 100000");
  }
  return r;
}

std::vector<lifering::ring_node> as_nodes(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::vector<lifering::ring_node> nodes;
  for (std::string& name : names) {
    nodes.push_back({std::move(name)});
  }
  return nodes;
}

// Milliseconds to build the ring of all nodes in one batch, the best of three.
double build_time(const lifering::placement_options& placement,
                  const std::vector<lifering::ring_node>& nodes) {
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    lifering::hash_ring ring{placement};
    auto batch = nodes;
    const auto start = clock::now();
    ring.assign(std::move(batch));
    const std::chrono::duration<double, std::milli> taken = clock::now() - start;
    best = i == 0 ? taken.count() : std::min(best, taken.count());
  }
  return best;
}

// The standard deviation of a share over the fair one, for random points (papers of Karger and of
// Lamping and Veach) and for the ranks of `slots`: the variance of the number of segments is
// S (N - 1) / (N (2 N - 1)). Other systems' rings are held against random points, as many as
// theirs.
double theory(const lifering::placement_options& placement, double nodes, double ring_points) {
  if (placement.kind == lifering::placement_kind::slots) {
    return std::sqrt(nodes * (nodes - 1) / (2 * nodes - 1) / std::exp2(placement.segments));
  }
  double points = placement.vnodes == 0 ? 150 : placement.vnodes;
  if (placement.foreign) {
    points = ring_points / nodes;
  }
  return std::sqrt((nodes - 1) / (nodes * points + 1));
}

struct movement {
  double on_add = 0;
  double on_remove = 0;
  double of_others = 0;  ///< Of on_remove, what wasn't the removed node's.
  double top_heir = 0;
};

// Adds one node; removes up to twenty, one at a time, and takes the mean.
movement measure_movement(lifering::hash_ring& ring, const std::vector<std::string>& names,
                          const std::string& newcomer) {
  movement result;
  result.on_add = ring.add({newcomer}).moved_share();
  ring.remove(newcomer);
  const std::size_t step = std::max<std::size_t>(1, names.size() / 20);
  int removals = 0;
  for (std::size_t i = 0; i < names.size(); i += step, ++removals) {
    const auto before = ring.snapshot();
    result.on_remove += ring.remove(names[i]).moved_share();
    std::map<std::string, double> heirs;
    double all = 0;
    const auto moves = diff(before, ring.snapshot());
    for (const auto& range : moves.moved_from(names[i])) {
      if (range.new_owner != nullptr) {
        heirs[range.new_owner->name] += static_cast<double>(range.size());
      }
      all += static_cast<double>(range.size());
    }
    double top = 0;
    for (const auto& [name, gained] : heirs) {
      top = std::max(top, gained);
    }
    result.of_others += static_cast<double>(moves.moved()) / circle - all / circle;
    result.top_heir += all > 0 ? top / all : 0;
    ring.add({names[i]});
  }
  result.on_remove /= removals;
  result.of_others /= removals;
  result.top_heir /= removals;
  return result;
}

}  // namespace

int run_report(arguments args) {
  const request r = read_request(args);
  // One name more, for the join. The order of names is theirs, so it is another each time.
  std::vector<std::string> names = make_names(r.family, r.nodes + 1, r.set);
  const std::string newcomer = names.back();
  names.pop_back();
  const auto nodes = as_nodes(names);

  const auto empty = lifering::hash_ring{r.placement}.snapshot();
  lifering::hash_ring ring = make_ring(r.placement, nodes);
  const auto full = ring.snapshot();
  std::map<std::string, double> shares;
  for (const auto& node : nodes) {
    shares[node.name] = 0;
  }
  const auto all = diff(empty, full);
  for (const auto& range : all.ranges()) {
    shares[range.new_owner == nullptr ? "" : range.new_owner->name] +=
        static_cast<double>(range.size()) / circle * r.nodes;
  }
  shares.erase("");  // Of nobody.
  const auto points = static_cast<double>(full.points());
  summary s{r.placement.text(), r.nodes, {}, 0, theory(r.placement, r.nodes, points)};
  for (const auto& [name, share] : shares) {
    s.shares.push_back(share);
    s.deviation += (share - 1) * (share - 1);
  }
  std::sort(s.shares.begin(), s.shares.end(), std::greater{});
  s.deviation = std::sqrt(s.deviation / r.nodes);
  if (!r.plot.empty()) {
    plot(r.plot, s, full);
  }

  const movement m = measure_movement(ring, names, newcomer);
  std::cout << "{\"placement\":\"" << in_json(s.placement) << "\",\"nodes\":" << r.nodes
            << ",\"share_max\":" << s.shares.front() << ",\"share_min\":" << s.shares.back()
            << ",\"share_sd\":" << s.deviation << ",\"share_sd_theory\":" << s.theory
            << ",\"moved_on_add\":" << m.on_add << ",\"moved_on_remove\":" << m.on_remove
            << ",\"moved_others\":" << m.of_others << ",\"ideal_move\":" << 1.0 / (r.nodes + 1)
            << ",\"top_heir\":" << m.top_heir << ",\"build_ms\":" << build_time(r.placement, nodes)
            << ",\"bytes\":" << full.bytes() << "}\n";
  return 0;
}

}  // namespace ring_tool
