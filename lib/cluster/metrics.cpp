// The names of all that is counted, and their text form for Prometheus.
#include <lifering/cluster.hpp>

#include "cluster/numbers.hpp"

namespace lifering {
namespace cluster_detail {
namespace {

/// Collects rows in the order in which they are shown. Rows of one name stand together.
class table {
 public:
  void count(std::string_view name, std::string_view help, std::uint64_t value) {
    rows_.push_back({name, {}, help, true, value});
  }
  void gauge(std::string_view name, std::string_view help, std::uint64_t value) {
    rows_.push_back({name, {}, help, false, value});
  }
  void gauge(std::string_view name, std::string_view reason, std::string_view help,
             std::uint64_t value) {
    rows_.push_back({name, reason, help, false, value});
  }
  void dropped(std::string_view reason, std::uint64_t value) {
    rows_.push_back({"dropped", reason, "Input that was dropped, by reason.", true, value});
  }

  std::vector<metric> result() { return std::move(rows_); }

 private:
  std::vector<metric> rows_;
};

void add_gauges(const numbers& n, table& to) {
  to.gauge("members_alive", "Members that answer, ourselves included.", n.alive);
  to.gauge("members_suspect", "Members that missed probes and may still speak up.", n.suspect);
  to.gauge("members_failed", "Failed members that are remembered and looked for.", n.failed);
  to.gauge("members_left", "Left members that are remembered.", n.left);
  to.gauge("view_digest", "Digest of the present members; equal views have equal digests.",
           n.view_digest);
  to.gauge("local_health", "Lifeguard's score of ourselves; 0 is healthy.", n.local_health);
  to.gauge("ring_nodes", "Nodes in the ring.", n.ring_nodes);
  to.gauge("ring_points", "Points or segments of the ring.", n.ring_points);
  to.gauge("ring_bytes", "Memory of the ring that is published now.", n.ring_bytes);
  to.gauge("ring_version", "Rings published so far.", n.ring_version);
  to.gauge("ring_fingerprint", "Equal on two members exactly when they place all keys alike.",
           n.ring_fingerprint);
  to.gauge("peers_agreeing", "Peers lately heard from that place keys as we do.",
           n.agreement.agreeing);
  to.gauge("peers_differing", "Peers lately heard from that place keys otherwise.",
           n.agreement.differing);
  to.gauge("peers_unheard", "Peers not heard lately or not since our ring changed.",
           n.agreement.unheard);
  to.gauge("streams_open", "Streams open now.", n.transport_now.streams_open);
  to.gauge("stream_bytes_queued", "Bytes of streams that the system has not taken yet.",
           n.transport_now.stream_bytes_queued);
  to.gauge("datagram_bytes_queued", "Bytes of datagrams that the system has not taken yet.",
           n.transport_now.datagram_bytes_queued);
  to.gauge("lookups_waiting", "Names of seeds that are being looked up.",
           n.transport_now.lookups_waiting);
  to.gauge("events_queued", "Events that wait for the application.", n.events.queued);
  to.gauge("message_bytes_queued", "Bytes of messages that wait for the application.",
           n.events.message_bytes);
  to.gauge("sick", "1 while the application says that it can't serve.", n.sick);
}

void add_machine_now(const swim::gauges& n, table& to) {
  const auto news = [&](std::string_view about, std::uint64_t value) {
    to.gauge("queued_updates", about, "News that is still being passed on, by what it is about.",
             value);
  };
  news("leave", n.queued_leaves);
  news("failure", n.queued_failures);
  news("suspicion", n.queued_suspicions);
  news("refutation", n.queued_refutations);
  news("join", n.queued_joins);
  news("metadata", n.queued_metadata);
  to.gauge("queued_broadcasts", "Broadcasts that are still being passed on.", n.queued_broadcasts);
  to.gauge("suspicions", "Suspicions that run out unless the member speaks up.", n.suspicions);
  to.gauge("round_trip_microseconds", "Smoothed round trip of pings, over all peers.",
           n.round_trip);
  to.gauge("round_trip_deviation_microseconds", "Smoothed deviation from that.",
           n.round_trip_deviation);
  to.gauge("probe_timeout_microseconds", "How long a ping may take before others are asked.",
           n.probe_timeout);
}

void add_transport(const net::counters& n, table& to) {
  to.count("datagrams_sent", "Datagrams sent.", n.datagrams_sent);
  to.count("datagrams_received", "Datagrams received.", n.datagrams_received);
  to.count("bytes_sent", "Bytes sent in datagrams and streams.", n.bytes_sent);
  to.count("bytes_received", "Bytes received in datagrams and streams.", n.bytes_received);
  to.count("streams_opened", "Streams opened to peers.", n.streams_opened);
  to.count("streams_accepted", "Streams accepted from peers.", n.streams_accepted);
  to.count("streams_failed", "Streams that failed or timed out.", n.streams_failed);
  to.count("streams_refused", "Streams refused because too many were open.",
           n.streams_refused_limit);
  to.count("streams_refused_source", "Streams refused because too many came from one source.",
           n.streams_refused_source);
  to.count("challenges_sent", "Times that a life was asked to prove that it lives.",
           n.challenges_sent);
  to.count("presumed_acks", "Pings taken for answered by packets that can't be opened.",
           n.presumed_acks);
  to.count("replies_withheld",
           "Not sent to one who is no member: longer than its question, or no room.",
           n.replies_withheld);
  to.count("accept_errors", "Pauses in accepting streams, for want of descriptors or memory.",
           n.accept_errors);
  to.count("send_errors", "Datagrams that our own host didn't take.", n.send_errors);
  to.count("refused", "Times that a host said its port is closed.", n.refused);
  to.count("unreachable", "Times that a router said it can't deliver.", n.unreachable);
}

void add_machine(const swim::stats& n, table& to) {
  to.count("probes", "Probes of members.", n.probes);
  to.count("probes_failed", "Probes that nothing answered.", n.probes_failed);
  to.count("indirect_probes", "Times that others were asked to probe for us.", n.indirect_probes);
  to.count("stream_probes", "Probes by stream beside the indirect ones.", n.stream_probes);
  to.count("stream_probes_saved", "Probes that only the stream answered.", n.stream_probes_saved);
  to.count("nacks_missed", "Helpers that didn't say that they are there.", n.nacks_missed);
  to.count("round_trips", "Round trips of pings that were measured.", n.round_trips);
  to.count("round_trip_sum_microseconds", "All of them together.", n.round_trip_microseconds);
  to.count("late_wakes", "Times that this process was woken too late to judge others.",
           n.late_wakes);
  to.count("stalls", "Times that this process stood still and noticed.", n.stalls);
  to.count("suspicions_raised", "Suspicions that we raised.", n.suspicions_raised);
  to.count("suspicions_heard", "Suspicions that others told of.", n.suspicions_heard);
  to.count("suspicions_confirmed", "Suspicions that another member confirmed.",
           n.suspicions_confirmed);
  to.count("refutations", "Claims about ourselves that we contradicted.", n.refutations);
  to.count("failures_declared", "Members that we declared failed.", n.failures_declared);
  to.count("isolations", "Times that we heard nobody and judged nobody.", n.isolations);
  to.count("hold_downs", "Times that we stayed away because we flapped.", n.hold_downs);
  to.count("syncs_started", "Exchanges of views that we began.", n.syncs_started);
  to.count("syncs_served", "Exchanges of views that others began.", n.syncs_served);
  to.count("digest_mismatches", "Contacts with a peer whose view differed.", n.digest_mismatches);
  to.count("compares_started", "Comparisons of views row by row.", n.compares_started);
  to.count("delta_rows_sent", "Rows of our view sent because a peer's differed.",
           n.delta_rows_sent);
  to.count("metadata_pulled", "Large metadata of others that was pulled.", n.metadata_pulled);
  to.count("metadata_served", "Large metadata that we gave to others.", n.metadata_served);
  to.count("updates_sent", "Pieces of news sent.", n.updates_sent);
  to.count("updates_received", "Pieces of news received.", n.updates_received);
  to.count("updates_new", "Pieces of news that were new to us.", n.updates_new);
  to.count("graves_evicted", "Graves forgotten for want of room.", n.graves_evicted);
  to.count("broadcasts_delivered", "Broadcasts of applications that arrived.",
           n.broadcasts_delivered);
  to.count("broadcasts_early", "Broadcasts of a life that was not known yet.", n.broadcasts_early);
  to.count("broadcasts_missed", "Broadcasts that were given up.", n.broadcasts_missed);
}

void add_dropped(const net::counters& transport, const swim::stats& machine, table& to) {
  to.dropped("not_ours", transport.dropped_not_ours);
  to.dropped("malformed", transport.dropped_malformed);
  to.dropped("over_limit", transport.dropped_over_limit);
  to.dropped("wrong_cluster", transport.dropped_wrong_cluster);
  to.dropped("wrong_version", transport.dropped_wrong_version);
  to.dropped("too_large", transport.dropped_too_large);
  to.dropped("no_room", transport.dropped_no_room);
  to.dropped("not_allowed", transport.dropped_not_allowed);
  to.dropped("not_sealed", transport.dropped_not_sealed);
  to.dropped("cannot_open", transport.dropped_cannot_open);
  to.dropped("repeated", transport.dropped_repeated);
  to.dropped("unproven", transport.dropped_unproven);
  to.dropped("wrong_placement", machine.dropped_wrong_placement);
  to.dropped("from_self", machine.dropped_from_self);
  to.dropped("bad_sender", machine.dropped_bad_sender);
  to.dropped("not_for_us", machine.dropped_not_for_us);
  to.dropped("unknown_sequence", machine.dropped_unknown_sequence);
  to.dropped("bad_accuser", machine.dropped_bad_accuser);
  to.dropped("accuser_limit", machine.dropped_accuser_limit);
  to.dropped("bad_record", machine.dropped_bad_record);
  to.dropped("beyond_window", machine.dropped_beyond_window);
  to.dropped("member_limit", machine.dropped_member_limit);
  to.dropped("unanswered", machine.dropped_unanswered);
  to.dropped("stream_limit", machine.dropped_stream_limit);
  to.dropped("unexpected_frame", machine.dropped_unexpected_frame);
}

void add_facade(const numbers& n, table& to) {
  to.count("events_delivered", "Events given to the application.", n.events.delivered);
  to.count("events_merged", "Events folded into others, as the application was slow.",
           n.events.merged);
  to.count("messages_delivered", "Messages given to the application.", n.events.messages_delivered);
  to.count("messages_dropped", "Messages that found no room or no handler.",
           n.events.messages_dropped);
  to.count("messages_refused", "Reliable messages likewise; their senders were told.",
           n.events.messages_refused);
  to.count("callbacks_thrown", "Calls of the application that threw.", n.events.thrown);
  to.count("publications", "Views published.", n.publications.publications);
  to.count("long_builds", "Rings built on the thread for long builds.", n.publications.long_builds);
  to.count("batches_gathered", "Changes that waited for a ring build and were published together.",
           n.publications.gathered);
}

}  // namespace

std::vector<metric> to_metrics(const numbers& from) {
  table rows;
  add_gauges(from, rows);
  add_machine_now(from.machine_now, rows);
  add_transport(from.transport, rows);
  add_machine(from.machine, rows);
  add_dropped(from.transport, from.machine, rows);
  add_facade(from, rows);
  return rows.result();
}

}  // namespace cluster_detail

namespace {

/// Prometheus counts seconds.
std::string as_seconds(std::uint64_t microseconds) {
  constexpr std::uint64_t second = 1'000'000;
  std::string rest = std::to_string(second + microseconds % second);
  rest.front() = '.';
  return std::to_string(microseconds / second) + rest;
}

/// In a help line quotes stay as they are.
std::string escaped(std::string_view text, bool in_quotes) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || (c == '"' && in_quotes)) result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string to_prometheus(std::span<const metric> metrics, std::string_view labels) {
  std::string text;
  std::string_view previous;
  for (const metric& row : metrics) {
    // By the format's custom, the name of a counter ends in _total.
    constexpr std::string_view fine = "_microseconds";
    const bool is_time = row.name.ends_with(fine);
    std::string name = "lifering_" + std::string(row.name);
    if (is_time) name.replace(name.size() - fine.size(), fine.size(), "_seconds");
    if (row.counter) name += "_total";
    if (row.name != previous) {
      text += "# HELP " + name + ' ' + escaped(row.help, false) + '\n';
      text += "# TYPE " + name + (row.counter ? " counter\n" : " gauge\n");
      previous = row.name;
    }
    std::string in_braces(labels);
    if (!row.reason.empty()) {
      if (!in_braces.empty()) in_braces += ',';
      in_braces += "reason=\"" + escaped(row.reason, true) + '"';
    }
    text += name;
    if (!in_braces.empty()) text += '{' + in_braces + '}';
    text += ' ' + (is_time ? as_seconds(row.value) : std::to_string(row.value)) + '\n';
  }
  return text;
}

}  // namespace lifering
