// The presets and the checks of `options`. Every check answers with one sentence that names the
// option and its value, and says what would be right.
#include <concepts>
#include <lifering/options.hpp>

#include "cluster/news_size.hpp"
#include "cluster/text.hpp"
#include "net/address.hpp"
#include "net/advertise.hpp"
#include "net/allow_list.hpp"
#include "swim/message.hpp"

namespace lifering {
namespace {

using cluster_detail::in_words;
using cluster_detail::quoted;
using cluster_detail::quoted_start;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// Collects the first fault of a row of checks.
class checker {
 public:
  void require(bool fine, errc code, auto&& sentence) {
    if (!fine && !found_) found_ = problem{code, sentence()};
  }

  void length(std::string_view what, std::string_view value, std::size_t max, errc too_long) {
    require(value.size() <= max, too_long, [&] {
      return "the " + std::string(what) + " " + quoted_start(value) + " has " +
             std::to_string(value.size()) + " bytes; at most " + std::to_string(max) + " would do";
    });
  }

  void range(std::string_view what, milliseconds value, milliseconds min, milliseconds max) {
    require(value >= min && value <= max, errc::invalid_option, [&] {
      return std::string(what) + " is " + in_words(value) + "; it must be " + in_words(min) +
             " to " + in_words(max);
    });
  }

  void range(std::string_view what, std::integral auto value, std::size_t min, std::size_t max) {
    require(value >= min && value <= max, errc::invalid_option, [&] {
      return std::string(what) + " is " + std::to_string(value) + "; it must be " +
             std::to_string(min) + " to " + std::to_string(max);
    });
  }

  void merge(std::optional<problem> other) {
    if (!found_) found_ = std::move(other);
  }

  std::optional<problem> result() { return std::move(found_); }

 private:
  std::optional<problem> found_;
};

void check_identity(const options& given, checker& check) {
  check.require(!given.name.empty(), errc::empty_name, [] {
    return "the name is empty; it takes 1 to 255 bytes that no other member has";
  });
  check.length("name", given.name, swim::name_max, errc::name_too_long);
  check.require(!given.cluster.empty(), errc::empty_cluster_id, [] {
    return "the cluster id is empty; it takes 1 to 64 bytes that all members share";
  });
  check.length("cluster id", given.cluster, swim::cluster_id_max, errc::cluster_id_too_long);
  check.length("zone", given.zone, swim::zone_max, errc::zone_too_long);
  check.length("service address", given.service, swim::service_max, errc::service_too_long);
  check.require(to_string(given.phase) != "unknown", errc::invalid_option, [&] {
    return "the phase is " + std::to_string(static_cast<unsigned>(given.phase)) +
           "; it must be serving, joining or draining";
  });
  check.range("limits.metadata", given.limits.metadata, 0, swim::metadata_max);
  check.length("metadata", given.metadata, given.limits.metadata, errc::metadata_too_large);
}

/// Where a port may follow, an IPv6 address needs its brackets: ::1:7000 is another address than
/// the one that was meant.
bool is_unbracketed_v6(std::string_view text, const endpoint& parsed) {
  return !parsed.is_v4() && !text.starts_with('[');
}

void check_addresses(const options& given, checker& check) {
  const auto bind = endpoint::parse(given.bind);
  const bool may_listen = bind && !bind->is_multicast() && !net::is_broadcast(*bind) &&
                          !is_unbracketed_v6(given.bind, *bind);
  check.require(may_listen, errc::invalid_address, [&] {
    return "cannot listen on " + quoted(given.bind) +
           "; IP:PORT of this machine would be right, such as 127.0.0.1:7946 or [::]:7946";
  });
  net::allow_list ignored;
  check.merge(net::allow_list::read(given.allow, ignored));
  const auto server = endpoint::parse(given.name_server, 53);
  check.require(given.name_server.empty() ||
                    (server && server->is_v4() && !server->is_unspecified() && server->port != 0),
                errc::invalid_address, [&] {
                  return "no name server can be asked at " + quoted(given.name_server) +
                         "; an IPv4 address would be right, such as 10.0.0.53";
                });
  if (given.advertise.empty()) return;
  const auto advertise = net::advertise_text::parse(given.advertise);
  const bool reachable = advertise && !(advertise->address &&
                                        (net::check_advertised(*advertise->address) ||
                                         is_unbracketed_v6(given.advertise, *advertise->address)));
  check.require(reachable, errc::invalid_address, [&] {
    return "others can't reach us at " + quoted(given.advertise) +
           "; IP:PORT or HOST:PORT of one machine would be right, such as 10.0.0.1:7946";
  });
}

void check_protocol(const protocol_options& given, checker& check) {
  check.range("protocol.probe_interval", given.probe_interval, 10ms, 1min);
  check.range("protocol.probe_timeout", given.probe_timeout, 1ms, 1min);
  check.require(given.probe_timeout < given.probe_interval, errc::invalid_option, [&] {
    return "protocol.probe_timeout is " + in_words(given.probe_timeout) +
           "; it must be below protocol.probe_interval, which is " +
           in_words(given.probe_interval) + ", so that other members can be asked in time";
  });
  check.range("protocol.indirect_probes", given.indirect_probes, 0, 16);
  check.range("protocol.suspicion_multiplier", given.suspicion_multiplier, 1, 100);
  check.range("protocol.suspicion_stretch", given.suspicion_stretch, 1, 100);
  check.range("protocol.gossip_interval", given.gossip_interval, 1ms, 1min);
  check.range("protocol.gossip_peers", given.gossip_peers, 1, 100);
  check.range("protocol.retransmit_multiplier", given.retransmit_multiplier, 1, 100);
  check.require(given.push_pull_interval == 0ms ||
                    (given.push_pull_interval >= 100ms && given.push_pull_interval <= 24h),
                errc::invalid_option, [&] {
                  return "protocol.push_pull_interval is " + in_words(given.push_pull_interval) +
                         "; it must be 0 (no timer) or " + in_words(100ms) + " to " + in_words(24h);
                });
  check.range("protocol.stream_timeout", given.stream_timeout, 10ms, 10min);
  check.range("protocol.grave_time", given.grave_time, 10 * given.probe_interval, 168h);
  check.require(given.hold_down == 0ms || (given.hold_down >= 1s && given.hold_down <= 1h),
                errc::invalid_option, [&] {
                  return "protocol.hold_down is " + in_words(given.hold_down) +
                         "; it must be 0 (off) or " + in_words(1s) + " to " + in_words(1h);
                });
}

void check_limits(const options& given, checker& check) {
  check.range("limits.datagram", given.limits.datagram, 512, 65507);
  check.range("limits.members", given.limits.members, 2, 1'000'000);
  check.range("limits.graves", given.limits.graves, 16, 1'000'000);
  check.range("limits.streams", given.limits.streams, 4, 10'000);
  check.range("limits.streams_per_source", given.limits.streams_per_source, 1, 10'000);
  check.range("limits.event_queue", given.limits.event_queue, 16, 1'000'000);
  check.range("limits.message_queue", given.limits.message_queue, std::size_t{64} << 10,
              std::size_t{1} << 30);
}

void check_pace(const options& given, checker& check) {
  check.range("ring_gather", given.ring_gather, 0ms, 10s);
  check.range("health.interval", given.health.interval, 10ms, 1h);
  check.range("health.bad_for", given.health.bad_for, 0ms, 24h);
  check.range("health.good_for", given.health.good_for, 0ms, 24h);
}

/// News of a member travels whole in one datagram.
void check_record_fits(const options& given, checker& check) {
  const std::size_t needed = cluster_detail::news_size(given, given.metadata.size());
  check.require(needed <= given.limits.datagram, errc::invalid_option, [&] {
    return "limits.datagram is " + std::to_string(given.limits.datagram) +
           ", which this member's name, zone, service address and metadata don't fit in; at "
           "least " +
           std::to_string(needed) + " would be right";
  });
}

}  // namespace

options options::lan() {
  return {};
}

options options::wan() {
  options result;
  result.protocol.probe_interval = 3s;
  result.protocol.probe_timeout = 1500ms;  // Above a round trip of a second.
  result.protocol.suspicion_multiplier = 3;
  result.protocol.gossip_interval = 500ms;
  result.protocol.gossip_peers = 4;
  result.protocol.push_pull_interval = 60s;
  result.protocol.stream_timeout = 30s;
  return result;
}

options options::local() {
  options result;
  result.protocol.probe_interval = 200ms;
  result.protocol.probe_timeout = 80ms;  // A busy machine schedules late; loopback itself is fast.
  // Nobody is failed in less than a second of silence, which processes have that wait for a core. A
  // process that ends is found sooner: its port refuses.
  result.protocol.suspicion_multiplier = 5;
  result.protocol.gossip_interval = 50ms;
  result.protocol.push_pull_interval = 10s;
  result.protocol.stream_timeout = 5s;
  result.limits.streams_per_source = result.limits.streams;  // All come from one address.
  return result;
}

std::optional<problem> options::validate() const {
  checker check;
  check_identity(*this, check);
  check_addresses(*this, check);
  check.merge(placement.validate());
  const ring_node self{name, weight, zone};
  check.merge(placement.validate({&self, 1}));
  check_protocol(protocol, check);
  check_limits(*this, check);
  check_pace(*this, check);
  check_record_fits(*this, check);
  return check.result();
}

}  // namespace lifering
