// nginx: ngx_http_upstream_hash_module.c, which follows Cache::Memcached::Fast.
#include <algorithm>
#include <lifering/hash.hpp>

#include "ring/compat/even_slots.hpp"
#include "ring/compat/servers.hpp"
#include "ring/compat/system_rule.hpp"

namespace lifering::compat {

namespace {

/// Both read the key by its CRC-32: as it is, or 15 bits of it, which here are the top of a place.
template <unsigned Shift>
class nginx_table final : public foreign_table {
 public:
  std::uint32_t place(std::string_view key) const noexcept override {
    if constexpr (Shift == 0) {
      return crc32(key);
    } else {
      return (crc32(key) >> 16 & 0x7fff) << Shift;
    }
  }
};

constexpr std::uint32_t modulo_slots = 0x8000;
constexpr std::uint32_t weight_max = 100'000'000;

/// "HOST\0PORT" of a server: nginx takes as its port what follows the last colon, if that is
/// digits.
std::string hashed_name(std::string_view id) {
  constexpr std::string_view socket = "unix:";
  const auto same_letter = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); };
  if (id.size() >= socket.size() &&
      std::equal(socket.begin(), socket.end(), id.begin(), same_letter)) {
    return std::string{id.substr(socket.size())} + '\0';
  }
  const std::size_t colon = id.rfind(':');
  std::string name{id};
  if (colon != id.npos && std::all_of(id.begin() + static_cast<std::ptrdiff_t>(colon) + 1, id.end(),
                                      [](char c) { return c >= '0' && c <= '9'; })) {
    name[colon] = '\0';
    return name;
  }
  return name + '\0';
}

class nginx_rule final : public system_rule<nginx_rule, nginx> {
 public:
  static constexpr std::string_view name = "nginx";
  using system_rule::system_rule;

  template <class Visitor>
  static void describe(nginx& o, Visitor& visit) {
    visit.word("method", o.method, std::array<std::string_view, 2>{"consistent", "modulo"});
    visit.number("points", o.points, 1U, 65536U);
    visit.number("unit", o.unit, 1U, 1000U);
    visit.order(o.order);
    visit.ids(o.ids);
  }

  std::optional<problem> refuse(node_span nodes) const override {
    std::vector<std::pair<std::string, const ring_node*>> texts;
    for (const server& each : servers(nodes)) {
      texts.emplace_back(hashed_name(each.id), each.node);
    }
    for (auto& [text, node] : texts) {
      std::replace(text.begin(), text.end(), '\0', ':');
    }
    // The Perl client alone has other numbers of points, and weights that aren't whole.
    const bool whole = options().points == nginx{}.points;
    auto found = refuse_points(name, count_points(nodes));
    if (!found && whole) found = refuse_weights(name, nodes, options().unit, weight_max);
    return found ? found : refuse_equal(name, texts);
  }

  void warn(node_span nodes, std::vector<std::string>& found) const override {
    auto idle = weighty(servers(nodes));
    if (options().method == nginx::methods::consistent) {
      std::erase_if(idle, [this](const server& each) { return points_of(*each.node) > 0; });
      return warn_of_idle(name, idle, "the weight rounds to no point", found);
    }
    std::uint64_t sum = 0;  // Of the weights before a server.
    std::erase_if(idle, [&sum](const server& each) {
      return std::exchange(sum, sum + each.weight) < modulo_slots;
    });
    warn_of_idle(name, idle, "of 32768 values of the hash none is left", found);
  }

  std::uint64_t count_points(node_span nodes) const override {
    if (options().method == nginx::methods::modulo) {
      return modulo_slots;
    }
    std::uint64_t sum = 0;
    for (const ring_node* node : nodes) {
      sum += points_of(*node);
    }
    return sum;
  }

  std::unique_ptr<const foreign_table> build(node_span nodes,
                                             std::vector<point>& points) const override {
    if (options().method == nginx::methods::modulo) {
      append_modulo(nodes, points);
      return std::make_unique<nginx_table<17>>();
    }
    for (const server& each : servers(nodes)) {
      const std::uint32_t base = crc32(hashed_name(each.id));
      std::uint32_t previous = 0;
      for (std::uint64_t left = points_of(*each.node); left > 0; --left) {
        const char bytes[] = {static_cast<char>(previous), static_cast<char>(previous >> 8),
                              static_cast<char>(previous >> 16), static_cast<char>(previous >> 24)};
        previous = crc32_append(base, {bytes, sizeof bytes});
        points.push_back({previous, each.slot});
      }
    }
    ring_detail::sort_by_place(points);
    points.erase(std::unique(points.begin(), points.end(),
                             [](const point& a, const point& b) { return a.place == b.place; }),
                 points.end());
    return std::make_unique<nginx_table<0>>();
  }

 private:
  std::vector<server> servers(node_span nodes) const {
    return servers_of(nodes, options().order, options().ids, options().unit);
  }

  /// int(points * weight + 0.5), as the Perl client has it.
  std::uint64_t points_of(const ring_node& node) const {
    return (std::uint64_t{node.weight.thousandths()} * options().unit * options().points + 500) /
           1000;
  }

  void append_modulo(node_span nodes, std::vector<point>& points) const {
    const auto all = weighty(servers(nodes));
    std::vector<std::uint64_t> ends;  // Of each server's stretch of the sum of weights.
    std::uint64_t sum = 0;
    for (const server& each : all) {
      ends.push_back(sum += each.weight);
    }
    if (sum > 0) {
      even_slots{modulo_slots}.append(points, [&](std::uint32_t slot) {
        const auto at = std::upper_bound(ends.begin(), ends.end(), slot % sum);
        return all[static_cast<std::size_t>(at - ends.begin())].slot;
      });
    }
  }
};

}  // namespace

placement_options nginx::placement() const {
  return placement_by(std::make_shared<const nginx_rule>(*this));
}

std::shared_ptr<const compat_rule> read_nginx(const option_list& given, problem& wrong) {
  return read_rule<nginx_rule, nginx>(given, wrong);
}

}  // namespace lifering::compat
