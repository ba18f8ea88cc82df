// Placements that agree, key for key, with the systems around a service: what nginx, HAProxy, a
// memcached client, Envoy, Redis Cluster or a Kafka producer says of a key, a ring says too.
//
//     lifering::compat::haproxy proxy;                     // hash-type consistent
//     lifering::hash_ring ring{proxy.placement()};
//     ring.assign({{"10.0.0.1:80"}, {"10.0.0.2:80"}});
//     ring.owner("user:12345");                            // the server that HAProxy takes
//
// or as text, which programs take on their command line:
//
//     lifering::hash_ring ring{lifering::compat::parse("haproxy:hash=crc32,avalanche=on")};
//
// A foreign placement is a placement like ours: snapshots, views, owners(key, n), differences and
// clusters work alike. It differs where the other system does. Two of its promises may be weaker
// than ours: a change of one node may move keys of others (ketama with weights, envoy_ring, maglev,
// every modulo), and a node may own nothing (a weight that rounds to no point). And it is always
// built from nothing, which takes longer than our changes do. The page lib/ring/compat/README.md
// has figures.
//
// The key is what the other system hashes, after whatever it does first: URI slices, header rules
// and case are its business. An empty key has no owner here, even where the other system has one.
//
// Servers. A node's name is what the other system calls the server, unless `ids` says otherwise.
// Where the order of servers counts, `order` gives it; nodes that it doesn't name follow in order
// of names. In a cluster, which has no other order, it is the order of names: write the other
// system's configuration in that order. All members of a cluster must give the same parameters, as
// with any placement; a mismatch is refused at the join.
//
// Weights. The other systems count in whole weights, and a node's weight there is its weight here
// times `unit`: with unit 10, weights 0.5 and 2 are 5 and 20. A product that isn't whole is rounded
// to the nearest, but to no less than 1; placement_options::validate(nodes) refuses it, since no
// configuration can say it.
//
// Two systems compute with floating point, and so does this: ketama with weights counts points in
// single precision, Envoy's ring and Maglev in double, each step rounded as they do it. Nothing
// else here, and none of our own placements, does.
#pragma once

#include <array>
#include <cstdint>
#include <lifering/config.hpp>
#include <lifering/error.hpp>
#include <lifering/placement.hpp>
#include <lifering/ring.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lifering::compat {

/// What the other system calls a node, where that isn't the node's name.
struct server_id {
  std::string name;  ///< The node's.
  std::string id;    ///< Not empty.

  friend bool operator==(const server_id&, const server_id&) = default;
};

/// nginx 1.22 `hash KEY consistent` and `hash KEY`, and Perl's Cache::Memcached::Fast.
///
/// A server is named as in its `server` line: "10.0.0.1" and "10.0.0.1:80" are two servers. With
/// `consistent`, a change of one server moves only its keys; the order of servers decides points
/// that two servers share, of which there are hardly any. owners(key, n) is the order in which
/// nginx tries servers. nginx hashes nothing for an upstream of one server or for an empty key.
///
/// Trap: points are 160 times the weight, so weight=1000000 fills memory. A ring has at most
/// 67,108,864 points; more are refused with their number.
struct LIFERING_API nginx {
  enum class methods : std::uint8_t {
    consistent,  ///< A circle of points.
    modulo,      ///< 15 bits of CRC-32 modulo the sum of weights: most keys move at each change.
  };
  methods method = methods::consistent;

  /// Points of a server of weight 1, 1 to 65536: 160 in nginx, `ketama_points` in the Perl client,
  /// which alone takes weights that aren't whole.
  std::uint32_t points = 160;

  std::uint32_t unit = 1;          ///< 1 to 1000: see above.
  std::vector<std::string> order;  ///< See above.
  std::vector<server_id> ids;      ///< See above.

  placement_options placement() const;
};

/// HAProxy `hash-type consistent`, versions 2.6 to 2.9 and from 3.3 on. In 3.0.0, 3.1.0 and 3.2.0
/// the points of `key = id` were others; use addr_port there.
///
/// A key belongs to the nearest point on either side. Points come from a server's number, address
/// or GUID and never from its name. ring_table::pick() with a factor of 1500 is
/// `hash-balance-factor 150`: HAProxy's own limits, which count servers in their order.
struct LIFERING_API haproxy {
  enum class hashes : std::uint8_t {
    sdbm,
    djb2,
    wt6,
    crc32,
    none,  ///< From 2.9: the key is a decimal number.
  };
  hashes hash = hashes::sdbm;

  /// `hash-type consistent` alone means sdbm with avalanche; `consistent sdbm` means without.
  bool avalanche = true;

  /// `hash-key`, from 3.0: what a server's points are made of.
  enum class keys : std::uint8_t {
    id,         ///< Its number. Numbers equal modulo 2^20 share all points.
    addr,       ///< Its address. Servers on one address would share all points, and those in the
                ///< middle of the list get no key: validate(nodes) refuses that.
    addr_port,  ///< Its address and port.
    guid,       ///< From 3.4: its id, as a text.
    id32,       ///< From 3.4: its number, byte-swapped.
  };
  keys key = keys::id;

  /// Where a server's number comes from, unless `ids` gives it (1 to 2147483647).
  enum class numbers : std::uint8_t {
    position,  ///< The next free one from 1 in the order of servers, as HAProxy counts where no
               ///< `id` is configured. Trap: a server that goes renumbers those after it, and half
               ///< of all keys move.
    name,      ///< 1 + crc32(name) mod 1048575, or the next that is free. For configurations that
               ///< are written from members: a change of one server moves only its keys. Write each
               ///< server's `id` from haproxy_numbers().
  };
  numbers number = numbers::position;

  std::uint32_t unit = 1;          ///< 1 to 1000. Weights there are 0 to 256.
  std::vector<std::string> order;  ///< See above.
  std::vector<server_id> ids;      ///< Numbers, addresses or GUIDs, as `key` takes them.

  placement_options placement() const;
};

/// Each server's number as the placement counts, in its order of servers, for whoever writes a
/// configuration. The placement is an haproxy one (checked). Numbers are distinct.
LIFERING_API std::vector<std::pair<std::string, std::uint32_t>> haproxy_numbers(
    const placement_options& placement, std::span<const ring_node> nodes);

/// The ketama of memcached clients: libmemcached 1.1 and twemproxy (nutcracker) 0.5.
///
/// Names are "HOST:PORT", hashed as "HOST" where the port is 11211, or in twemproxy whatever name
/// its configuration gives a server. With weights the number of points is in single precision and
/// depends on all servers, so that a change of one moves keys of others.
struct LIFERING_API ketama {
  enum class clients : std::uint8_t {
    libmemcached,
    twemproxy,  ///< Sorts servers by length of name, then by name: `order` doesn't count.
  };
  clients client = clients::libmemcached;

  /// libmemcached: KETAMA_WEIGHTED, or CONSISTENT with 100 points a server whatever its weight.
  bool weighted = true;

  /// `modula`: the hash modulo the servers (twemproxy: modulo the weights), without a ring.
  enum class distributions : std::uint8_t { ketama, modula };
  distributions distribution = distributions::ketama;

  enum class hashes : std::uint8_t {
    automatic,  ///< The client's own: md5 with weights and one_at_a_time without in libmemcached,
                ///< fnv1a_64 in twemproxy.
    one_at_a_time,
    md5,
    crc,  ///< libmemcached's `crc` and twemproxy's `crc32`: 15 bits of it. Trap: with weights all
          ///< points are far above, and every key goes to one server; refused, see `allow_crc`.
    crc16,
    crc32a,  ///< The whole CRC-32.
    fnv1_64,
    fnv1a_64,
    fnv1_32,
    fnv1a_32,
    hsieh,
    murmur,
    murmur3,
    jenkins,
  };
  hashes hash = hashes::automatic;  ///< Of keys. Bytes from 0x80 count as on x86, also elsewhere.

  /// libmemcached without weights: the hash of points, which is the one that was set when servers
  /// were added; automatic: that of keys.
  hashes ring_hash = hashes::automatic;

  bool allow_crc = false;  ///< Takes `crc` all the same, to reproduce a client that has it.
  bool spy = false;        ///< libmemcached: KETAMA_SPY, labels "/HOST:PORT-i".

  /// twemproxy's hash_tag, two bytes such as "{}": only what stands between them is hashed. Empty:
  /// none.
  std::string hash_tag;

  std::uint32_t unit = 1;          ///< 1 to 1000: see above.
  std::vector<std::string> order;  ///< libmemcached only: decides shared points, and `modula`.
  std::vector<server_id> ids;      ///< "HOST:PORT", or twemproxy's names.

  placement_options placement() const;
};

/// Envoy's ring_hash and gRPC's: the owner of a request whose only hash policy is the key.
///
/// A server is its hash key, "IP:PORT" unless metadata say otherwise. Sizes are in double
/// precision: shares are exact to one point in all, and where `minimum` isn't a multiple of the
/// servers, their order decides which has one more; the order of names is what gRPC-Go sorts by. A
/// change of one server may move keys of others, as the number of points of each depends on all.
struct LIFERING_API envoy_ring {
  std::uint64_t minimum = 1024;       ///< minimum_ring_size, 1 to maximum.
  std::uint64_t maximum = 8'388'608;  ///< maximum_ring_size, to 8388608. gRPC: 4096. Below the
                                      ///< number of servers, some get no point and no request.
  enum class hashes : std::uint8_t {
    xxhash64,
    murmur2,  ///< MURMUR_HASH_2: of points and of keys.
  };
  hashes hash = hashes::xxhash64;

  std::uint32_t unit = 1;          ///< 1 to 1000: see above.
  std::vector<std::string> order;  ///< See above.
  std::vector<server_id> ids;      ///< Hash keys.

  placement_options placement() const;
};

/// Envoy's Maglev (Eisenbud et al. 2016): a table of slots that servers fill in turn, each in an
/// order of its own. Shares are even to a slot or two; a change of one server moves a few keys of
/// others, one in two hundred among fifty servers with the default size. A fine placement for its
/// own sake, where that is no loss.
///
/// Servers count in the order of their ids, whatever the order of the list. owners(key, n) is the
/// order of the following slots; Envoy's own retries look at other slots.
struct LIFERING_API maglev {
  std::uint32_t size = 65537;  ///< Slots: a prime, to 5000011. A hundred times the servers or more.

  std::uint32_t unit = 1;      ///< 1 to 1000: see above.
  std::vector<server_id> ids;  ///< Hash keys, as for envoy_ring.

  placement_options placement() const;
};

/// Redis Cluster: CRC-16 of the key, or of its {tag}, gives one of 16384 slots, and ranges of slots
/// belong to nodes.
struct LIFERING_API redis_slots {
  static constexpr std::uint32_t count = 16384;

  /// Whether only a key's {tag} is hashed, where it has one. Always so in Redis.
  bool tags = true;

  /// Slots `first` to `last` belong to `node`.
  struct range {
    std::uint32_t first;
    std::uint32_t last;
    std::string node;

    friend bool operator==(const range&, const range&) = default;
  };

  /// As CLUSTER SLOTS says, not overlapping. A slot that no range names, or one of a node that
  /// isn't in the ring, has no owner, as in a cluster whose node is down. Empty: spread evenly over
  /// the nodes in their order, as `redis-cli --cluster create` spreads them over masters; a change
  /// then moves slots of all nodes. Weights don't count, but for 0.
  std::vector<range> ranges;

  std::vector<std::string> order;  ///< For the even spread: see above.

  placement_options placement() const;
};

/// Kafka's partitions: the key's partition, and the member that reads it.
///
/// The partition is what a producer's partitioner says of a key that isn't null. Partitions go to
/// the nodes in order of names as the consumers' RangeAssignor or RoundRobinAssignor deal them out
/// to members of one subscription. Weights don't count, but for 0.
struct LIFERING_API kafka {
  std::uint32_t partitions = 0;  ///< Required, 1 to 1000000: the topic's.

  enum class partitioners : std::uint8_t {
    murmur2,     ///< The Java client, kafkajs from 2.0 on, librdkafka's murmur2 and murmur2_random.
    consistent,  ///< librdkafka's consistent and consistent_random, its default: CRC-32.
    fnv1a,       ///< librdkafka's fnv1a, as in Sarama.
  };
  partitioners hash = partitioners::murmur2;

  enum class assignments : std::uint8_t {
    range,        ///< Consecutive ones; the first nodes get one more where it doesn't divide.
    round_robin,  ///< Partition p to node p modulo the nodes.
  };
  assignments assign = assignments::range;

  placement_options placement() const;
};

/// A placement from "NAME[:option=value,...]", where NAME is one of the structs above and options
/// are its members: "nginx:method=modulo", "haproxy:key=addr-port", "ketama:client=twemproxy",
/// "envoy_ring:min=1024,max=4096", "redis_slots:ranges=0-8191@a;8192-16383@b",
/// "kafka:partitions=12"; enumerators are written with `-` for `_` where HAProxy does so. Lists are
/// `order=A;B` and `ids=NAME@ID;NAME@ID`; in their names, bytes outside 0x21..0x7e and any of
/// `\,;@` are written \xHH. placement_options::text() is the inverse.
///
/// Throws std::system_error with errc::invalid_placement and what is wrong; the other form returns
/// nothing and says it in `wrong`. Both also check what placement_options::validate() does.
LIFERING_API placement_options parse(std::string_view text);
LIFERING_API std::optional<placement_options> parse(std::string_view text, problem& wrong);

/// Whether the text begins with the name of a foreign placement.
LIFERING_API bool is_name(std::string_view text) noexcept;

/// The same placement with another order of servers and other ids, where it has such; an empty list
/// leaves what was. For programs that read the servers from elsewhere than the placement. The
/// placement is a foreign one (checked).
LIFERING_API placement_options with_servers(const placement_options& placement,
                                            std::vector<std::string> order,
                                            std::vector<server_id> ids);

/// A key's slot: of Redis Cluster, of Maglev's table, or a Kafka partition. Needs no node. Nothing
/// for placements without slots. The empty key has a slot.
LIFERING_API std::optional<std::uint32_t> slot(const placement_options& placement,
                                               std::string_view key);

}  // namespace lifering::compat
