// What the rules of all systems have in common: their options as text, and their servers.
#pragma once

#include <algorithm>
#include <lifering/compat.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ring/compat/option_text.hpp"
#include "ring/foreign.hpp"

namespace lifering::compat {

using ring_detail::foreign_table;
using ring_detail::node_span;
using ring_detail::point;

/// Every foreign rule is one of these: a library without lib/ring/compat has none.
class compat_rule : public ring_detail::foreign_rule {
 public:
  /// The same with other servers: see compat::with_servers().
  virtual std::shared_ptr<const compat_rule> with_servers(std::vector<std::string> order,
                                                          std::vector<server_id> ids) const = 0;

  void warn(node_span /*nodes*/, std::vector<std::string>& /*found*/) const override {}
  std::optional<problem> refuse(node_span /*nodes*/) const override { return std::nullopt; }
  std::optional<std::uint32_t> slot(std::string_view /*key*/) const override {
    return std::nullopt;
  }
};

template <class System>
concept has_ids = requires(System system) {
  system.ids;
};

template <class Rule, class System>
concept settles = requires(System system) {
  Rule::settled(system);
};

template <class Rule, class System>
concept sorts_by_itself = requires(System system) {
  Rule::has_order(system);
};

/// `Rule` is the derived class, with `static constexpr std::string_view name`, a static template
/// `describe(System&, Visitor&)` and, if it needs them, `check()`, a static `settled(System)` that
/// writes what means the same in one way, and a static `has_order(System)` that says whether the
/// order of servers is a parameter.
template <class Rule, class System>
class system_rule : public compat_rule {
 public:
  explicit system_rule(System options)
      : options_(normal(std::move(options))), text_(text_of(options_)) {}

  std::string_view text() const noexcept final { return text_; }

  std::optional<problem> validate() const final {
    option_checker checker{Rule::name};
    System copy = options_;
    Rule::describe(copy, checker);
    return checker.wrong ? checker.wrong : check();
  }

  std::shared_ptr<const compat_rule> with_servers(std::vector<std::string> order,
                                                  std::vector<server_id> ids) const final {
    if constexpr (sorts_by_itself<Rule, System>) {
      if (!Rule::has_order(options_)) order.clear();
    }
    System copy = options_;
    server_setter setter{std::move(order), std::move(ids)};
    Rule::describe(copy, setter);
    return std::make_shared<const Rule>(std::move(copy));
  }

 protected:
  /// What no range of one option says.
  virtual std::optional<problem> check() const { return std::nullopt; }

  const System& options() const noexcept { return options_; }

 private:
  static System normal(System options) {
    if constexpr (has_ids<System>) {
      std::sort(options.ids.begin(), options.ids.end(),
                [](const server_id& a, const server_id& b) { return a.name < b.name; });
    }
    if constexpr (settles<Rule, System>) {
      options = Rule::settled(std::move(options));
    }
    return options;
  }

  static std::string text_of(System options) {
    option_writer defaults;
    System plain = normal({});
    Rule::describe(plain, defaults);
    option_writer writer;
    Rule::describe(options, writer);
    return writer.joined(Rule::name, defaults);
  }

  System options_;
  std::string text_;
};

/// A placement by a rule.
inline placement_options placement_by(std::shared_ptr<const compat_rule> rule) {
  placement_options result;
  result.kind = placement_kind::foreign;
  result.foreign = foreign_placement{std::move(rule)};
  return result;
}

/// Reads a system's options from text; null, and what is wrong.
template <class Rule, class System>
std::shared_ptr<const compat_rule> read_rule(const option_list& given, problem& wrong) {
  System options{};
  option_reader reader{given};
  Rule::describe(options, reader);
  auto found = reader.finish();
  std::shared_ptr<const Rule> rule;
  if (!found) {
    rule = std::make_shared<const Rule>(std::move(options));
    found = rule->validate();
  }
  if (found) {
    wrong = *std::move(found);
    return nullptr;
  }
  return rule;
}

// One for each system, in its own file.
using rule_reader = std::shared_ptr<const compat_rule> (*)(const option_list&, problem&);
std::shared_ptr<const compat_rule> read_nginx(const option_list& given, problem& wrong);
std::shared_ptr<const compat_rule> read_haproxy(const option_list& given, problem& wrong);
std::shared_ptr<const compat_rule> read_ketama(const option_list& given, problem& wrong);
std::shared_ptr<const compat_rule> read_envoy_ring(const option_list& given, problem& wrong);
std::shared_ptr<const compat_rule> read_maglev(const option_list& given, problem& wrong);
std::shared_ptr<const compat_rule> read_redis_slots(const option_list& given, problem& wrong);
std::shared_ptr<const compat_rule> read_kafka(const option_list& given, problem& wrong);

}  // namespace lifering::compat
