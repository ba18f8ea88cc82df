// libmemcached (libmemcached/hosts.cc, libhashkit) and twemproxy (hashkit/nc_ketama.c).
#include <algorithm>

#include "base/text.hpp"
#include "ring/compat/even_slots.hpp"
#include "ring/compat/md5.hpp"
#include "ring/compat/memcached_hash.hpp"
#include "ring/compat/servers.hpp"
#include "ring/compat/system_rule.hpp"

namespace lifering::compat {

namespace {

using hashes = ketama::hashes;

constexpr std::uint32_t unweighted_labels = 100;
constexpr std::uint32_t weight_max = 100'000;
constexpr std::size_t twemproxy_label_max = 85;  ///< It cuts longer ones, and then all are equal.

/// Labels of a server with weights, in the single precision of both clients and with the fraction
/// that they add against rounding. Each step is rounded, so each is a statement.
std::uint32_t labels_of(std::uint32_t weight, std::uint64_t weights, std::size_t servers,
                        bool twemproxy) {
  const float part = static_cast<float>(weight) / static_cast<float>(weights);
  const float points = part * 160.0F;
  const float labels = points / 4.0F;
  const float exact = labels * static_cast<float>(servers);
  const float lifted =
      twemproxy ? static_cast<float>(static_cast<double>(exact) + 1e-10) : exact + 1e-10F;
  return static_cast<std::uint32_t>(lifted);  // Of what isn't negative, the floor.
}

/// What a client writes before the "-i" of a label.
std::string label_of(const ketama& options, const server& each) {
  std::string_view host = each.id;
  std::string_view port = "11211";
  if (host.starts_with('/')) {
    port = "0";  // A socket.
  } else if (const std::size_t colon = host.rfind(':'); colon != host.npos) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (options.client == ketama::clients::twemproxy) {
    return std::string{port == "11211" ? host : each.id};
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  if (options.spy) {
    return '/' + std::string{host} + ':' + std::string{port};
  }
  return port == "11211" ? std::string{host} : std::string{host} + ':' + std::string{port};
}

/// hash_tag: what stands between the first of two bytes and the second after it, if anything does.
std::string_view tagged(std::string_view key, const std::array<char, 2>& tag) {
  if (const std::size_t open = key.find(tag[0]); open != key.npos) {
    const std::size_t close = key.find(tag[1], open + 1);
    if (close != key.npos && close > open + 1) {
      return key.substr(open + 1, close - open - 1);
    }
  }
  return key;
}

class ketama_table final : public foreign_table {
 public:
  ketama_table(const ketama& options, even_slots slots)
      : hash_(options.hash),
        is_modula_(options.distribution == ketama::distributions::modula),
        has_tag_(options.hash_tag.size() == 2),
        empty_is_zero_(options.client == ketama::clients::twemproxy),
        slots_(slots) {
    if (has_tag_) {
      tag_ = {options.hash_tag[0], options.hash_tag[1]};
    }
  }

  std::uint32_t place(std::string_view key) const noexcept override {
    const std::string_view hashed = has_tag_ ? tagged(key, tag_) : key;
    const std::uint32_t hash = hashed.empty() && empty_is_zero_ ? 0 : memcached_hash(hash_, hashed);
    return is_modula_ ? slots_.place(hash % slots_.count()) : hash;
  }

 private:
  hashes hash_;
  bool is_modula_;
  bool has_tag_;
  bool empty_is_zero_;
  std::array<char, 2> tag_{};
  even_slots slots_;
};

class ketama_rule final : public system_rule<ketama_rule, ketama> {
 public:
  static constexpr std::string_view name = "ketama";
  using system_rule::system_rule;

  static bool has_order(const ketama& options) {
    return options.client != ketama::clients::twemproxy;
  }

  /// The hashes that a client has by default, written out.
  static ketama settled(ketama options) {
    if (options.hash == hashes::automatic) {
      const bool is_twemproxy = options.client == ketama::clients::twemproxy;
      options.hash = is_twemproxy ? hashes::fnv1a_64
                                  : (options.weighted ? hashes::md5 : hashes::one_at_a_time);
    }
    if (options.weighted) {
      options.ring_hash = hashes::automatic;  // Points are words of MD5.
    } else if (options.ring_hash == hashes::automatic) {
      options.ring_hash = options.hash;
    }
    return options;
  }

  template <class Visitor>
  static void describe(ketama& o, Visitor& visit) {
    constexpr std::array<std::string_view, 14> hash_words{
        "automatic", "one_at_a_time", "md5",      "crc",   "crc16",  "crc32a",  "fnv1_64",
        "fnv1a_64",  "fnv1_32",       "fnv1a_32", "hsieh", "murmur", "murmur3", "jenkins"};
    visit.word("client", o.client, std::array<std::string_view, 2>{"libmemcached", "twemproxy"});
    visit.flag("weighted", o.weighted);
    visit.word("distribution", o.distribution, std::array<std::string_view, 2>{"ketama", "modula"});
    visit.word("hash", o.hash, hash_words);
    visit.word("ring_hash", o.ring_hash, hash_words);
    visit.flag("allow_crc", o.allow_crc);
    visit.flag("spy", o.spy);
    visit.text("hash_tag", o.hash_tag);
    visit.number("unit", o.unit, 1U, 1000U);
    visit.order(o.order);
    visit.ids(o.ids);
  }

  std::optional<problem> refuse(node_span nodes) const override {
    std::vector<std::pair<std::string, const ring_node*>> texts;
    for (const server& each : servers(nodes)) {
      texts.emplace_back(label_of(options(), each), each.node);
      const std::size_t longest = texts.back().first.size() + sizeof "-99999";
      if (is_twemproxy() && longest > twemproxy_label_max) {
        return bad_option("ketama: " + base::quoted(texts.back().first) +
                          " makes labels that twemproxy cuts off; use at most " +
                          std::to_string(twemproxy_label_max - sizeof "-99999") + " bytes");
      }
    }
    auto found = refuse_weights(name, nodes, options().unit, weight_max);
    if (!found) found = refuse_points(name, count_points(nodes));
    return found ? found : refuse_equal(name, texts);
  }

  void warn(node_span nodes, std::vector<std::string>& found) const override {
    if (!options().weighted || is_modula()) {
      return;
    }
    const auto all = servers(nodes);
    for (const server& each : all) {
      if (labels_of(each.weight, weight_of(all), all.size(), is_twemproxy()) == 0) {
        found.push_back("ketama: the weight of " + base::quoted(each.node->name) + ", " +
                        std::to_string(each.weight) + " of " + std::to_string(weight_of(all)) +
                        ", rounds to no point, so it gets no key; raise it");
      }
    }
  }

  std::uint64_t count_points(node_span nodes) const override {
    const auto all = servers(nodes);
    if (is_modula()) {
      return is_twemproxy() ? weight_of(all) : all.size();
    }
    return all.size() * std::uint64_t{options().weighted ? 164 : unweighted_labels};
  }

  std::unique_ptr<const foreign_table> build(node_span nodes,
                                             std::vector<point>& points) const override {
    const auto all = servers(nodes);
    if (is_modula()) {
      return build_modula(all, points);
    }
    const std::uint64_t weights = weight_of(all);
    for (const server& each : all) {
      const std::uint32_t labels = options().weighted
                                       ? labels_of(each.weight, weights, all.size(), is_twemproxy())
                                       : unweighted_labels;
      const std::string label = label_of(options(), each) + '-';
      for (std::uint32_t i = 0; i < labels; ++i) {
        append_label(label + std::to_string(i), each.slot, points);
      }
    }
    ring_detail::sort_by_place(points);
    return std::make_unique<ketama_table>(options(), even_slots{1});
  }

 private:
  std::optional<problem> check() const override {
    const ketama& o = options();
    if (o.hash_tag.size() != 0 && o.hash_tag.size() != 2) {
      return bad_option("ketama: hash_tag has " + std::to_string(o.hash_tag.size()) +
                        " bytes; use two, such as {}, or none");
    }
    if (is_twemproxy() && (!o.weighted || o.spy || !o.order.empty())) {
      return bad_option(
          "ketama: weighted=off, spy and order are libmemcached's; twemproxy has none of them");
    }
    if (o.hash == hashes::crc && o.weighted && !is_modula() && !o.allow_crc) {
      return bad_option(
          "ketama: hash is crc, fifteen bits of CRC-32, with which every key goes to one server; "
          "use crc32a, or allow_crc=on to reproduce it");
    }
    return std::nullopt;
  }

  bool is_twemproxy() const { return options().client == ketama::clients::twemproxy; }
  bool is_modula() const { return options().distribution == ketama::distributions::modula; }

  /// In the order that decides shared points.
  std::vector<server> servers(node_span nodes) const {
    auto all = weighty(servers_of(nodes, options().order, options().ids, options().unit));
    if (is_twemproxy()) {
      std::stable_sort(all.begin(), all.end(), [this](const server& a, const server& b) {
        const std::string first = label_of(options(), a);
        const std::string second = label_of(options(), b);
        return first.size() != second.size() ? first.size() < second.size() : first < second;
      });
    }
    return all;
  }

  void append_label(const std::string& label, std::uint32_t slot,
                    std::vector<point>& points) const {
    if (!options().weighted) {
      points.push_back({memcached_hash(options().ring_hash, label), slot});
      return;
    }
    for (const std::uint32_t word : md5_words(label)) {
      points.push_back({word, slot});
    }
  }

  std::unique_ptr<const foreign_table> build_modula(const std::vector<server>& all,
                                                    std::vector<point>& points) const {
    std::vector<std::uint32_t> owners;
    for (const server& each : all) {
      owners.insert(owners.end(), is_twemproxy() ? each.weight : 1, each.slot);
    }
    const even_slots slots{static_cast<std::uint32_t>(std::max<std::size_t>(owners.size(), 1))};
    if (!owners.empty()) {
      slots.append(points, [&owners](std::uint32_t slot) { return owners[slot]; });
    }
    return std::make_unique<ketama_table>(options(), slots);
  }
};

}  // namespace

placement_options ketama::placement() const {
  return placement_by(std::make_shared<const ketama_rule>(*this));
}

std::shared_ptr<const compat_rule> read_ketama(const option_list& given, problem& wrong) {
  return read_rule<ketama_rule, ketama>(given, wrong);
}

}  // namespace lifering::compat
