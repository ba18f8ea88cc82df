// From a scenario back to text.
#include "sim/scenario.hpp"

namespace lifering::sim {
namespace {

using kind = happening::kind;
using wanted = expectation::kind;

std::string quoted(const std::string& text) {
  return '"' + text + '"';
}

std::string window(const expectation& from) {
  return " within " + to_string(from.within) + " of " + to_string(from.moment);
}

std::string after(const expectation& from) {
  if (from.moment == base::duration::zero()) return {};
  return " after " + to_string(from.moment);
}

std::string settings_text(const scenario& from) {
  const network_options& network = from.profile.network;
  std::string text;
  text.append("nodes ").append(std::to_string(from.nodes)).append(from.formed ? " formed\n" : "\n");
  text.append("profile ").append(from.profile_name).append("\n");
  for (const auto& line : from.adjustments)
    text.append(line).append("\n");
  text.append("seeds ").append(from.seeds.to_string()).append("\n");
  text.append("latency ").append(to_string(network.latency_min)).append("..");
  text.append(to_string(network.latency_max)).append("\n");
  if (from.start_apart != base::duration::zero()) {
    text.append("start ").append(to_string(from.start_apart)).append(" apart\n");
  }
  if (from.absent != node_set{}) text.append("absent ").append(from.absent.to_string() + '\n');
  if (from.joining != node_set{}) text.append("joining ").append(from.joining.to_string() + '\n');
  if (network.loss != 0) text.append("loss ").append(probability_text(network.loss) + '\n');
  if (network.duplicate != 0) {
    text.append("duplicate ").append(probability_text(network.duplicate) + '\n');
  }
  if (network.reorder != 0) {
    text.append("reorder ").append(probability_text(network.reorder) + '\n');
  }
  if (network.bandwidth != 0) {
    text.append("bandwidth ").append(std::to_string(network.bandwidth) + '\n');
  }
  if (network.receive_buffer != network_options{}.receive_buffer) {
    text.append("buffer ").append(std::to_string(network.receive_buffer) + '\n');
  }
  if (from.zones != 0) text.append("zones ").append(std::to_string(from.zones) + '\n');
  return text;
}

}  // namespace

std::string to_text(const happening& from) {
  std::string text = "at ";
  text.append(to_string(from.at)).append(" ");
  const std::string who = from.who.to_string();
  switch (from.what) {
    case kind::crash:
      return text.append("crash ").append(who);
    case kind::vanish:
      return text.append("vanish ").append(who);
    case kind::cut:
      text.append("cut ").append(who).append(from.flag ? " | " : " -> ");
      text.append(from.other.to_string());
      break;
    case kind::loss_out:
    case kind::loss_in:
      text.append("loss ").append(who).append(from.what == kind::loss_in ? " in " : " out ");
      text.append(probability_text(from.loss));
      break;
    case kind::pause:
      text.append("pause ").append(who);
      break;
    case kind::jerk:
      text.append("jerk ").append(who).append(" awake ").append(to_string(from.awake));
      text.append(" asleep ").append(to_string(from.asleep));
      break;
    case kind::block:
      text.append("block ").append(who);
      break;
    case kind::heal:
      return text.append("heal");
    case kind::start:
      return text.append("start ").append(who);
    case kind::restart:
      return text.append("restart ").append(who).append(from.flag ? " moved" : "");
    case kind::leave:
      return text.append("leave ").append(who);
    case kind::set_weight:
      return text.append("weight ").append(who).append(" ").append(to_string(from.weight));
    case kind::metadata:
      return text.append("metadata ").append(who).append(" ").append(quoted(from.text));
    case kind::ready:
      return text.append("ready ").append(who);
    case kind::drain:
      return text.append("drain ").append(who);
    case kind::broadcast:
      return text.append("broadcast ").append(who).append(" ").append(quoted(from.text));
    case kind::forget:
      return text.append("forget ").append(who).append(" by ").append(from.other.to_string());
  }
  if (from.length) text.append(" for ").append(to_string(*from.length));
  return text;
}

std::string to_text(const expectation& from) {
  const std::string who = from.who.to_string();
  const std::string limit = std::to_string(from.limit);
  std::string text = "expect ";
  switch (from.what) {
    case wanted::agree:
      return text.append("agree").append(window(from));
    case wanted::no_false_failures:
      return text.append("no false failures").append(after(from));
    case wanted::no_suspicions:
      return text.append("no suspicions").append(after(from));
    case wanted::no_failures_of:
      return text.append("no failures of ").append(who).append(after(from));
    case wanted::failed_everywhere:
      return text.append("failed ").append(who).append(" everywhere").append(window(from));
    case wanted::left_everywhere:
      return text.append("left ").append(who).append(" everywhere").append(window(from));
    case wanted::joined_everywhere:
      return text.append("joined ").append(who).append(" everywhere").append(window(from));
    case wanted::known_everywhere:
      return text.append("known ").append(who).append(" everywhere").append(window(from));
    case wanted::delivered_everywhere:
      text.append("delivered ").append(quoted(from.text));
      return text.append(" everywhere").append(window(from));
    case wanted::one_event_everywhere:
      text.append("one event about ").append(who);
      return text.append(" everywhere after ").append(to_string(from.moment));
    case wanted::changes_at_most:
      text.append("at most ").append(limit).append(" changes of ").append(who);
      return text.append(" everywhere").append(after(from));
    case wanted::ring_versions_at_most:
      return text.append("at most ").append(limit).append(" ring versions").append(after(from));
    case wanted::disagreement_at_most:
      text.append("at most ").append(to_string(from.within)).append(" disagreement");
      return text.append(after(from));
    case wanted::rows_at_most:
      return text.append("at most ").append(limit).append(" rows");
    case wanted::packets_at_most:
      text.append("at most ").append(limit).append(" packets per second");
      return text.append(after(from));
    case wanted::bytes_at_most:
      text.append("at most ").append(limit).append(" bytes per second");
      return text.append(after(from));
    case wanted::health_at_most:
      return text.append("at most ").append(limit).append(" health").append(after(from));
    case wanted::isolated:
      return text.append("isolated ").append(who).append(window(from));
  }
  return text;
}

std::string to_text(const scenario& from) {
  std::string text = settings_text(from);
  for (const auto& item : from.happenings)
    text.append(to_text(item)).append("\n");
  text.append("until ").append(to_string(from.until)).append("\n");
  for (const auto& item : from.expectations)
    text.append(to_text(item)).append("\n");
  return text;
}

}  // namespace lifering::sim
