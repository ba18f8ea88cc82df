#include "sim/tally.hpp"

#include <utility>

namespace lifering::sim {
namespace {

using field = std::uint64_t swim::stats::*;
constexpr std::pair<const char*, field> fields[] = {
    {"probes", &swim::stats::probes},
    {"probes_failed", &swim::stats::probes_failed},
    {"indirect_probes", &swim::stats::indirect_probes},
    {"stream_probes", &swim::stats::stream_probes},
    {"stream_probes_saved", &swim::stats::stream_probes_saved},
    {"nacks_missed", &swim::stats::nacks_missed},
    {"late_wakes", &swim::stats::late_wakes},
    {"stalls", &swim::stats::stalls},
    {"suspicions_raised", &swim::stats::suspicions_raised},
    {"suspicions_heard", &swim::stats::suspicions_heard},
    {"suspicions_confirmed", &swim::stats::suspicions_confirmed},
    {"refutations", &swim::stats::refutations},
    {"failures_declared", &swim::stats::failures_declared},
    {"hold_downs", &swim::stats::hold_downs},
    {"metadata_pulled", &swim::stats::metadata_pulled},
    {"dropped_unanswered", &swim::stats::dropped_unanswered},
    {"isolations", &swim::stats::isolations},
    {"syncs_started", &swim::stats::syncs_started},
    {"syncs_served", &swim::stats::syncs_served},
    {"digest_mismatches", &swim::stats::digest_mismatches},
    {"dropped_wrong_placement", &swim::stats::dropped_wrong_placement},
    {"dropped_from_self", &swim::stats::dropped_from_self},
    {"dropped_bad_sender", &swim::stats::dropped_bad_sender},
    {"dropped_not_for_us", &swim::stats::dropped_not_for_us},
    {"dropped_unknown_sequence", &swim::stats::dropped_unknown_sequence},
    {"dropped_bad_accuser", &swim::stats::dropped_bad_accuser},
    {"dropped_accuser_limit", &swim::stats::dropped_accuser_limit},
    {"dropped_bad_record", &swim::stats::dropped_bad_record},
    {"dropped_beyond_window", &swim::stats::dropped_beyond_window},
    {"dropped_member_limit", &swim::stats::dropped_member_limit},
    {"dropped_stream_limit", &swim::stats::dropped_stream_limit},
    {"dropped_unexpected_frame", &swim::stats::dropped_unexpected_frame},
    {"updates_sent", &swim::stats::updates_sent},
    {"updates_received", &swim::stats::updates_received},
    {"updates_new", &swim::stats::updates_new},
    {"graves_evicted", &swim::stats::graves_evicted},
};

void add_machine(counts& to, const swim::stats& from) {
  for (const auto& [name, which] : fields)
    to[name] += from.*which;
}

}  // namespace

void tally::on_stopping(node_id which) {
  add_machine(machines_, cluster_.at(which).machine().stats());
}

counts tally::all() const {
  counts result = machines_;
  for (node_id which = 1; which <= cluster_.size(); ++which)
    if (cluster_.running(which)) add_machine(result, cluster_.at(which).machine().stats());
  for (const auto& [name, times] : done_)
    result[name] += times;
  const network_counters& net = cluster_.network.counters();
  result["datagrams_sent"] = net.sent;
  result["datagrams_delivered"] = net.delivered;
  result["datagrams_lost"] = net.lost;
  result["datagrams_cut"] = net.cut;
  result["datagrams_duplicated"] = net.duplicated;
  result["datagrams_held_back"] = net.held_back;
  result["datagrams_too_large"] = net.too_large;
  result["datagrams_congested"] = net.congested;
  result["datagrams_overrun"] = net.overrun;
  result["datagrams_refused"] = net.refused;
  const stream_counters& streams = cluster_.streams.counters();
  result["streams_opened"] = streams.opened;
  result["streams_accepted"] = streams.accepted;
  result["streams_refused"] = streams.refused;
  result["streams_timed_out"] = streams.timed_out;
  result["streams_reset"] = streams.reset;
  result["stream_frames"] = streams.frames;
  result["stream_retries"] = streams.retries;
  return result;
}

}  // namespace lifering::sim
