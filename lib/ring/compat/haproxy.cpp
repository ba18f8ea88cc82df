// HAProxy: lb_chash.c and hash.c.
#include <algorithm>
#include <charconv>
#include <lifering/endpoint.hpp>
#include <lifering/hash.hpp>

#include "base/check.hpp"
#include "base/text.hpp"
#include "ring/compat/haproxy_hash.hpp"
#include "ring/compat/servers.hpp"
#include "ring/compat/system_rule.hpp"
#include "ring/compat/xxhash.hpp"

namespace lifering::compat {

namespace {

constexpr std::uint32_t points_per_weight = 16;
constexpr std::uint32_t weight_max = 256;
constexpr std::uint32_t number_max = 0x7fff'ffff;
constexpr std::uint32_t distinct_numbers = 0x000f'ffff;  ///< Modulo 2^20, without 0.

class haproxy_table final : public foreign_table {
 public:
  haproxy_table(const haproxy& options, const std::vector<server>& servers)
      : hash_(options.hash), avalanche_(options.avalanche) {
    for (const server& each : servers) {
      const std::uint64_t own = std::uint64_t{each.weight} * points_per_weight;
      weights_.push_back({each.node, own, sum_});
      sum_ += own;
    }
    std::sort(weights_.begin(), weights_.end(),
              [](const stretch& a, const stretch& b) { return std::less<>{}(a.node, b.node); });
  }

  std::uint32_t place(std::string_view key) const noexcept override {
    const std::uint32_t hash = haproxy_hash(hash_, key);
    return avalanche_ ? haproxy_mix(hash) : hash;
  }

  bool has_limits() const noexcept override { return true; }

  /// chash_server_is_eligible(): the slots of all, dealt out along the list of servers.
  std::uint64_t limit(const ring_node& node, std::uint64_t total,
                      std::uint32_t factor) const noexcept override {
    const auto at = std::lower_bound(
        weights_.begin(), weights_.end(), &node,
        [](const stretch& a, const ring_node* b) { return std::less<>{}(a.node, b); });
    if (at == weights_.end() || at->node != &node || sum_ == 0) {
      return 0;
    }
    const std::uint64_t slots = ((total + 1) * factor + 999) / 1000;
    const std::uint64_t rest = slots % sum_;
    const std::uint64_t own =
        at->own * (slots / sum_) + (at->before + at->own) * rest / sum_ - at->before * rest / sum_;
    return std::max<std::uint64_t>(own, 1);
  }

  std::size_t bytes() const noexcept override {
    return sizeof *this + weights_.capacity() * sizeof(weights_[0]);
  }

 private:
  struct stretch {
    const ring_node* node;
    std::uint64_t own;
    std::uint64_t before;
  };

  haproxy::hashes hash_;
  bool avalanche_;
  std::uint64_t sum_ = 0;
  std::vector<stretch> weights_;  ///< By address of the node, which is all that is asked.
};

/// A server's number from its id.
std::optional<std::uint32_t> read_number(std::string_view text) {
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stopped == end && number >= 1 && number <= number_max
             ? std::optional{number}
             : std::nullopt;
}

/// The numbers of servers in their order. A number that an id gives comes first; two servers with
/// one number, which HAProxy refuses, have it both.
std::vector<std::uint32_t> numbers_of(const haproxy& options, const std::vector<server>& servers) {
  const bool by_name = options.number == haproxy::numbers::name;
  std::vector<std::uint32_t> numbers(servers.size());
  std::vector<std::uint32_t> taken;
  const auto take = [&taken](std::uint32_t number) {
    const auto at = std::lower_bound(taken.begin(), taken.end(), number);
    const bool is_free = at == taken.end() || *at != number;
    if (is_free) {
      taken.insert(at, number);
    }
    return is_free;
  };
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (const auto given = servers[i].has_id ? read_number(servers[i].id) : std::nullopt) {
      numbers[i] = *given;
      take(*given);
    } else {
      rest.push_back(i);
    }
  }
  if (by_name) {  // So that of two whose hashes meet the order decides nothing.
    std::sort(rest.begin(), rest.end(), [&servers](std::size_t a, std::size_t b) {
      return servers[a].node->name < servers[b].node->name;
    });
  }
  std::uint32_t next = 1;
  for (const std::size_t i : rest) {
    if (by_name) {
      next = 1 + crc32(servers[i].node->name) % distinct_numbers;
    }
    while (!take(next)) {
      next = next < number_max ? next + 1 : 1;
    }
    numbers[i] = next;
  }
  return numbers;
}

class haproxy_rule final : public system_rule<haproxy_rule, haproxy> {
 public:
  static constexpr std::string_view name = "haproxy";
  using system_rule::system_rule;

  template <class Visitor>
  static void describe(haproxy& o, Visitor& visit) {
    visit.word("hash", o.hash,
               std::array<std::string_view, 5>{"sdbm", "djb2", "wt6", "crc32", "none"});
    visit.flag("avalanche", o.avalanche);
    visit.word("key", o.key,
               std::array<std::string_view, 5>{"id", "addr", "addr-port", "guid", "id32"});
    visit.word("number", o.number, std::array<std::string_view, 2>{"position", "name"});
    visit.number("unit", o.unit, 1U, 1000U);
    visit.order(o.order);
    visit.ids(o.ids);
  }

  std::optional<problem> refuse(node_span nodes) const override {
    std::vector<std::pair<std::string, const ring_node*>> texts;
    const auto all = servers(nodes);
    for (const server& each : all) {
      if (uses_addresses() && !endpoint::parse(each.id)) {
        return bad_option("haproxy: " + base::quoted(each.id) +
                          " is no address, which key=addr and key=addr-port need; name nodes "
                          "IP:PORT, or give their addresses as ids");
      }
      if (uses_numbers() && each.has_id && !read_number(each.id)) {
        return bad_option("haproxy: the id of " + base::quoted(each.node->name) + " is " +
                          base::quoted(each.id) + "; it must be a number, 1 to " +
                          std::to_string(number_max));
      }
      texts.emplace_back(identity(each), each.node);
    }
    auto found = refuse_weights(name, nodes, options().unit, weight_max);
    return found ? found : refuse_equal(name, texts);
  }

  void warn(node_span nodes, std::vector<std::string>& found) const override {
    if (!uses_numbers()) {
      return;
    }
    const auto all = servers(nodes);
    const auto numbers = numbers_of(options(), all);
    std::vector<std::pair<std::uint32_t, const ring_node*>> folded;
    for (std::size_t i = 0; i < all.size(); ++i) {
      folded.emplace_back(numbers[i] & distinct_numbers, all[i].node);
    }
    std::sort(folded.begin(), folded.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second->name < b.second->name;
    });
    const auto twice =
        std::adjacent_find(folded.begin(), folded.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; });
    if (options().key == haproxy::keys::id && twice != folded.end()) {
      found.push_back("haproxy: the numbers of " + base::quoted(twice->second->name) + " and " +
                      base::quoted(std::next(twice)->second->name) +
                      " are equal modulo 2^20, so that they share all points; use other ids");
    }
  }

  std::uint64_t count_points(node_span nodes) const override {
    return 2 * points_per_weight * weight_of(servers(nodes));
  }

  std::unique_ptr<const foreign_table> build(node_span nodes,
                                             std::vector<point>& points) const override {
    const auto all = servers(nodes);
    const auto numbers = numbers_of(options(), all);
    std::vector<point> own;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (const auto key = server_key(all[i], numbers[i])) {
        for (std::uint32_t j = 0; j < points_per_weight * all[i].weight; ++j) {
          own.push_back({haproxy_mix(*key + j), all[i].slot});
        }
      }
    }
    ring_detail::sort_by_place(own);
    append_nearest(own, points);
    return std::make_unique<haproxy_table>(options(), all);
  }

  std::vector<server> servers(node_span nodes) const {
    return servers_of(nodes, options().order, options().ids, options().unit);
  }

  std::vector<std::uint32_t> numbers(const std::vector<server>& all) const {
    return numbers_of(options(), all);
  }

 private:
  bool uses_numbers() const {
    return options().key == haproxy::keys::id || options().key == haproxy::keys::id32;
  }
  bool uses_addresses() const {
    return options().key == haproxy::keys::addr || options().key == haproxy::keys::addr_port;
  }

  /// What two servers must not have in common. Numbers that HAProxy gives are distinct.
  std::string identity(const server& each) const {
    if (uses_addresses()) {
      auto address = endpoint::parse(each.id).value_or(endpoint{});
      if (options().key == haproxy::keys::addr) {
        address.port = 0;
      }
      return address.to_string();
    }
    if (uses_numbers()) {
      const auto number = each.has_id ? read_number(each.id) : std::nullopt;
      return number ? std::to_string(*number) : '"' + each.node->name + '"';
    }
    return std::string{each.id};
  }

  /// chash_compute_server_key(). Nothing for a server without the address that is asked for.
  std::optional<std::uint32_t> server_key(const server& each, std::uint32_t number) const {
    switch (options().key) {
      case haproxy::keys::id:
        return number * 4096;
      case haproxy::keys::id32:
        return haproxy_mix(__builtin_bswap32(number));
      case haproxy::keys::guid:
        return xxhash32(each.id, 0);
      case haproxy::keys::addr:
      case haproxy::keys::addr_port:
        break;
    }
    const auto address = endpoint::parse(each.id);
    if (!address) {
      return std::nullopt;
    }
    const std::uint32_t port = options().key == haproxy::keys::addr_port ? address->port : 0;
    const auto& bytes = address->bytes;
    if (address->is_v4()) {
      const std::uint32_t word = bytes[12] | std::uint32_t{bytes[13]} << 8 |
                                 std::uint32_t{bytes[14]} << 16 | std::uint32_t{bytes[15]} << 24;
      return haproxy_mix(port == 0 ? word : word + haproxy_mix(port));
    }
    return xxhash32({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                    port == 0 ? 0 : haproxy_mix(port));
  }

  /// The nearest of sorted points as the first at or after: a point's owner has it from halfway to
  /// the one before, until halfway to the next, halfway itself included. Where several share a
  /// place, the first has what is before it, the last what is after.
  static void append_nearest(const std::vector<point>& own, std::vector<point>& points) {
    const std::size_t old = points.size();
    bool wraps = false;
    for (std::size_t first = 0, end = 0; first < own.size(); first = end) {
      const std::uint32_t place = own[first].place;
      while (end < own.size() && own[end].place == place) {
        points.push_back(own[end++]);
      }
      const std::uint32_t next = own[end == own.size() ? 0 : end].place;
      const std::uint32_t gap = next - place;  // 0: there is no other, all round.
      const std::uint32_t halfway = place + (gap == 0 ? 0x8000'0000U : gap / 2);
      points.push_back({halfway, own[end - 1].owner});
      wraps = halfway < place;
    }
    if (wraps) {  // Halfway between the last and the first: the first of all.
      std::rotate(points.begin() + static_cast<std::ptrdiff_t>(old), points.end() - 1,
                  points.end());
    }
  }
};

}  // namespace

placement_options haproxy::placement() const {
  return placement_by(std::make_shared<const haproxy_rule>(*this));
}

std::vector<std::pair<std::string, std::uint32_t>> haproxy_numbers(
    const placement_options& placement, std::span<const ring_node> nodes) {
  const auto* rule = dynamic_cast<const haproxy_rule*>(placement.foreign.rule());
  LIFERING_CHECK(rule != nullptr);
  std::vector<const ring_node*> sorted;
  for (const ring_node& node : nodes) {
    sorted.push_back(&node);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const ring_node* a, const ring_node* b) { return a->name < b->name; });
  const auto servers = rule->servers(sorted);
  const auto numbers = rule->numbers(servers);
  std::vector<std::pair<std::string, std::uint32_t>> result;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    result.emplace_back(servers[i].node->name, numbers[i]);
  }
  return result;
}

std::shared_ptr<const compat_rule> read_haproxy(const option_list& given, problem& wrong) {
  return read_rule<haproxy_rule, haproxy>(given, wrong);
}

}  // namespace lifering::compat
