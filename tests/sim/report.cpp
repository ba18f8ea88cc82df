#include "sim/report.hpp"

#include <cstdarg>
#include <cstdio>

#include "sim/json.hpp"

namespace lifering::sim {
namespace {

__attribute__((format(printf, 1, 2))) std::string formatted(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string hex(std::uint64_t value) {
  return formatted("%016llx", static_cast<unsigned long long>(value));
}

void write_rate(json_writer& out, std::string_view name, const distribution& of) {
  out.key(name).open('{').member("mean", of.mean()).member("p99", of.percentile(99));
  out.member("max", of.max()).close('}');
}

void write_lists(json_writer& out, const result& of) {
  out.key("expectations").open('[');
  for (const auto& item : of.expectations) {
    out.open('{').member("line", item.line).member("text", item.text).member("met", item.met);
    out.member("detail", item.detail).close('}');
  }
  out.close(']').key("violations").open('[');
  for (const auto& item : of.violations) {
    out.open('{').member("at_s", std::chrono::duration<double>(item.at).count());
    out.member("node", std::uint64_t{item.node}).member("what", item.what).close('}');
  }
  out.close(']');
}

std::string violation_text(const violation& item) {
  std::string text = "at " + to_string(item.at);
  if (item.node != 0) text.append(" at ").append(name_of(item.node));
  return text.append(": ").append(item.what);
}

}  // namespace

std::string replay_line(const result& of) {
  std::string line = "lifering-sim run " + of.scenario + " --seed " + std::to_string(of.seed);
  for (const auto& fault : of.masked)
    line.append(" --mask ").append(fault);
  return line;
}

std::string to_json(const result& of) {
  json_writer out;
  out.open('{').member("scenario", of.scenario).member("seed", of.seed);
  out.member("virtual_s", of.virtual_s).member("wall_s", of.wall_s);
  out.member("converged", of.converged).member("agree_s", of.agree_s);
  out.key("crashes").open('[');
  for (const auto& crash : of.crashes) {
    out.open('{').member("node", std::uint64_t{crash.node}).member("at_s", crash.at_s);
    out.member("first_s", crash.first_s).member("all_s", crash.all_s).close('}');
  }
  out.close(']').member("false_failures", of.false_failures);
  out.member("false_failure_observers", of.false_failure_observers);
  out.key("events").open('{');
  for (const auto& [name, times] : of.events)
    out.member(name, times);
  out.close('}').member("fingerprints_max", of.fingerprints_max);
  out.key("ring_versions").open('{').member("p50", of.ring_versions.percentile(50));
  out.member("p95", of.ring_versions.percentile(95)).member("max", of.ring_versions.max());
  out.close('}');
  write_rate(out, "packets_per_s", of.packets_per_s);
  write_rate(out, "bytes_per_s", of.bytes_per_s);
  out.member("largest_datagram", of.largest_datagram).member("disagreement_s", of.disagreement_s);
  write_lists(out, of);
  out.member("trace", hex(of.trace)).key("counters").open('{');
  for (const auto& [name, times] : of.counters)
    out.member(name, times);
  return out.close('}').close('}').text();
}

std::string to_text(const result& of) {
  std::string text = of.scenario + ", seed " + std::to_string(of.seed) + "\n";
  text += formatted("  %.1f s in %.2f s of real time, trace ", of.virtual_s, of.wall_s);
  text.append(hex(of.trace)).append("\n");
  text.append(of.converged ? "  agreed" : "  not agreed");
  if (of.agree_s) text += formatted(", %.3f s after the last disturbance", *of.agree_s);
  text += formatted("; at most %llu rings at once, disagreement %.3f s\n",
                    static_cast<unsigned long long>(of.fingerprints_max), of.disagreement_s);
  for (const auto& crash : of.crashes) {
    text += formatted("  node-%u stopped at %.1f s: ", crash.node, crash.at_s);
    text.append(crash.first_s ? formatted("first %.3f s, ", *crash.first_s) : "never noticed, ");
    text.append(crash.all_s ? formatted("all %.3f s\n", *crash.all_s) : "not known to all\n");
  }
  text.append("  events:");
  for (const auto& [name, times] : of.events)
    if (times != 0) text.append(" ").append(name).append(" ").append(std::to_string(times));
  text += formatted("\n  false failures %llu; packets/s %.2f (p99 %llu, max %llu), bytes/s %.0f, ",
                    static_cast<unsigned long long>(of.false_failures), of.packets_per_s.mean(),
                    static_cast<unsigned long long>(of.packets_per_s.percentile(99)),
                    static_cast<unsigned long long>(of.packets_per_s.max()), of.bytes_per_s.mean());
  text +=
      formatted("largest datagram %llu\n", static_cast<unsigned long long>(of.largest_datagram));
  for (const auto& item : of.expectations) {
    text.append(item.met ? "  met    " : "  FAILED ").append(item.text);
    text.append(item.detail.empty() ? "" : ": ").append(item.detail).append("\n");
  }
  for (const auto& item : of.violations)
    text.append("  BROKEN ").append(violation_text(item)).append("\n");
  if (!of.passed()) text.append("  replay: ").append(replay_line(of)).append("\n");
  return text;
}

std::string first_fault(const result& of) {
  if (!of.violations.empty()) return violation_text(of.violations.front());
  for (const auto& item : of.expectations)
    if (!item.met) return item.text + ": " + item.detail;
  return {};
}

}  // namespace lifering::sim
