// What the library counts, taken down at one moment, and as the list that users see.
#pragma once

#include <cstdint>
#include <lifering/cluster.hpp>
#include <vector>

#include "cluster/dispatcher.hpp"
#include "cluster/publisher.hpp"
#include "net/counters.hpp"
#include "swim/stats.hpp"

namespace lifering::cluster_detail {

struct numbers {
  swim::stats machine;
  swim::gauges machine_now;
  net::counters transport;
  net::gauges transport_now;
  dispatcher::counts events;
  publisher::counts publications;

  std::uint64_t alive = 0;
  std::uint64_t suspect = 0;
  std::uint64_t failed = 0;
  std::uint64_t left = 0;
  std::uint64_t ring_nodes = 0;
  std::uint64_t ring_points = 0;
  std::uint64_t ring_bytes = 0;
  std::uint64_t ring_version = 0;
  std::uint64_t ring_fingerprint = 0;
  std::uint64_t view_digest = 0;
  std::uint64_t local_health = 0;
  std::uint64_t sick = 0;

  ring_agreement agreement;
};

std::vector<metric> to_metrics(const numbers& from);

}  // namespace lifering::cluster_detail
