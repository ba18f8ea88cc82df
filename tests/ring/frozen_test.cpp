// Values that may never change: peers of different versions and machines must agree on them. A
// change of rule raises `revision` in placement.cpp, and then these.
#include "ring/mix64.hpp"
#include "ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;
using lifering::ring_detail::hash64;

namespace {

struct frozen {
  const char* what;
  placement_options placement;
  std::uint64_t id;
  std::uint64_t fingerprint;
  std::uint64_t owners;  ///< A digest of who owns 20,000 keys, with two replicas for each.
};

std::vector<ring_node> the_nodes() {
  std::vector<ring_node> nodes = address_nodes(60);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    constexpr std::uint64_t weights[] = {1000, 1000, 2500, 10, 0, 100'000, 333};
    nodes[i].weight = weight_of(weights[i % 7]);
    nodes[i].zone = i % 3 == 0 ? "" : i % 3 == 1 ? "west" : "\xff\x80";
  }
  nodes.push_back({std::string("\x00\xff#1", 4)});
  return nodes;
}

std::uint64_t digest_of_owners(const ring_table& ring) {
  hash64 sum{0};
  for (const std::string& key : some_keys(20'000)) {
    sum.add(ring.place(key));
    sum.add(ring.owner(key)->name);
  }
  for (const std::string& key : some_keys(200)) {
    for (const ring_node* node : ring.owners(key, 3)) {
      sum.add(node->name);
    }
  }
  return sum.value();
}

std::vector<frozen> all_frozen() {
  placement_options groupcache = placement_options::classic();
  groupcache.label = "{i}{node}";
  groupcache.vnodes = 50;
  placement_options fine = placement_options::slots();
  fine.segments = 20;
  placement_options capped = placement_options::slots();
  capped.segments = 14;
  capped.cap = 50;
  return {
      {"classic", placement_options::classic(), 0xcd3807f72ae41d9bU, 0x6376a98c702adc3cU,
       0x85f49776570660U},
      {"groupcache", groupcache, 0x47f50caf0550944bU, 0x6dcad65c44c5b4abU, 0xf818451a2db3fe90U},
      {"mixed", placement_options::mixed(), 0x84d1eb4425e4a401U, 0x5f4d4905098dd875U,
       0x70c65fc1350d4344U},
      {"slots", placement_options::slots(), 0x3edb95d71302ee65U, 0x6fb7630684a15eb7U,
       0x338271cb015ed70cU},
      {"slots, 2^20", fine, 0x4c037a8521e88ea2U, 0xcd45a2f0f54209dcU, 0x877cdfd8d589aa0aU},
      {"slots, capped", capped, 0xca733884861e6758U, 0xd74a6def43306ce4U, 0x8bd843250579de21U},
  };
}

}  // namespace

TEST_CASE("ids, fingerprints and owners are what they were, on every machine", "[ring][frozen]") {
  for (const frozen& f : all_frozen()) {
    CAPTURE(f.what);
    const hash_ring ring = ring_of(f.placement, the_nodes());
    CHECK(f.placement.id() == f.id);
    CHECK(ring.fingerprint() == f.fingerprint);
    CHECK(digest_of_owners(ring.view()) == f.owners);
  }
}
