// A steady state takes nothing from the heap. A program of its own, since it counts every operator
// new.
#include <cstdint>
#include <string>
#include <vector>

#include "allocation_counter.hpp"
#include "base/check.hpp"
#include "support/catch.hpp"
#include "swim/gossip_queue.hpp"
#include "swim/protocol.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;
using namespace std::chrono_literals;

namespace {

/// One machine among peers that answer at once, without anything else that could allocate.
class quiet_cluster {
 public:
  quiet_cluster(std::size_t peers, std::size_t name_length)
      : machine_(settings(), peer(0, name_length), base::rng(1), now_) {
    for (std::size_t i = 0; i <= peers; ++i)
      peers_.push_back(std::make_shared<const record>(peer(i, name_length)));
    machine_.adopt_view(now_, peers_);
  }

  /// Allocations inside the machine while it probes and is probed for a while. With `lossy` every
  /// third of its pings stays without an answer until helpers give one.
  std::size_t run(base::duration time, bool lossy) {
    std::size_t inside = 0;
    const base::time_point end = now_ + time;
    while (now_ < end) {
      now_ += 10ms;
      if (machine_.next_deadline() <= now_) {
        inside += counted([&] { machine_.advance(now_, out_); });
        inside += answer(lossy);
      }
      if (++ticks_ % 10 == 0) inside += probe_machine();
    }
    return inside;
  }

  const swim::stats& stats() const { return machine_.stats(); }

 private:
  static config settings() {
    config made;
    made.parts.stream_probe = made.parts.push_pull = made.parts.heal = false;
    return made;
  }

  static record peer(std::size_t index, std::size_t name_length) {
    record made;
    made.name = std::to_string(index);
    made.name.resize(name_length, 'n');
    made.epoch = make_epoch(1, index + 1);
    made.incarnation = 1;
    made.address = endpoint::v4({10, 0, 0, static_cast<std::uint8_t>(index + 1)}, 7946);
    return made;
  }

  template <class Call>
  std::size_t counted(Call call) {
    out_.clear();
    const std::size_t before = allocations;
    call();
    return allocations - before;
  }

  void sign(const record& by) {
    heard_.clear();
    heard_.from.name = by.name;
    heard_.from.epoch = by.epoch;
    heard_.from.incarnation = by.incarnation;
    heard_.from.view_digest = machine_.view_digest();
    heard_.from.known_members = machine_.present_members();
  }

  /// Gives the pings and ping requests in `out_` their acks.
  std::size_t answer(bool lossy) {
    acks_.clear();
    for (const effect& e : out_.list()) {
      const auto* sent = std::get_if<send_datagram>(&e);
      if (!sent) continue;
      const packet& content = out_.packet_at(sent->packet);
      if (const auto* asked = std::get_if<ping>(&content.body)) {
        if (!lossy || ++pings_ % 3 != 0) acks_.emplace_back(sent->to, asked->sequence);
      } else if (const auto* request = std::get_if<ping_request>(&content.body)) {
        acks_.emplace_back(sent->to, request->sequence);
      }
    }
    std::size_t inside = 0;
    for (const auto& [by, sequence] : acks_) {
      for (const auto& known : peers_) {
        if (known->address == by) sign(*known);
      }
      heard_.body = ack{sequence};
      const endpoint from = by;
      inside += counted([&] { machine_.handle(now_, packet_received{from, heard_}, out_); });
    }
    return inside;
  }

  /// A peer pings the machine, and asks it to ping another; that one answers, or doesn't.
  std::size_t probe_machine() {
    const record& by = *peers_[1 + ticks_ / 10 % (peers_.size() - 1)];
    const record& target = *peers_[1 + ticks_ / 7 % (peers_.size() - 1)];
    sign(by);
    heard_.body = ping{ticks_, machine_.self()->name, machine_.self()->epoch};
    std::size_t inside = counted([&] {
      machine_.handle(now_, packet_received{by.address, heard_}, out_);
    });
    heard_.body = ping_request{ticks_, target.name, target.epoch, target.address, 100};
    inside += counted([&] { machine_.handle(now_, packet_received{by.address, heard_}, out_); });
    return inside + (ticks_ % 20 == 0 ? answer(false) : 0);
  }

  base::time_point now_{std::chrono::hours(1)};
  protocol machine_;
  effects out_;
  packet heard_;
  std::vector<record_ptr> peers_;
  std::vector<std::pair<endpoint, std::uint64_t>> acks_;
  std::uint64_t ticks_ = 0;
  std::uint64_t pings_ = 0;
};

}  // namespace

TEST_CASE("a steady state takes nothing from the heap, however long its names are", "[swim]") {
  const auto length = GENERATE(std::size_t{5}, std::size_t{15}, std::size_t{60}, std::size_t{200});
  const bool lossy = GENERATE(false, true);
  CAPTURE(length, lossy);
  quiet_cluster cluster(20, length);
  cluster.run(120s, lossy);  // buffers get their size
  const auto before = cluster.stats().probes;
  const std::size_t counted = cluster.run(120s, lossy);
  CHECK(counted == 0);
  CHECK(cluster.stats().probes >= before + 200);
  CHECK(cluster.stats().probes_failed == 0);
  CHECK((cluster.stats().indirect_probes > 0) == lossy);
}

TEST_CASE("what a storm of news needed is given back, what ordinary news needs is kept", "[swim]") {
  const auto [pieces, keeps] = GENERATE(table<row_id, bool>({{10, true}, {200, false}}));
  CAPTURE(pieces);
  gossip_queue queue;
  update news;
  news.subject = std::make_shared<const record>();
  const auto queue_all = [&queue, &news, pieces = pieces] {
    for (row_id i = 0; i < pieces; ++i)
      queue.put(i, gossip_class::join, news);
  };
  const auto send_all = [&queue](packet& onto) { queue.take(1 << 20, 1, no_row, onto.updates); };
  effects out;
  queue_all();
  for (int i = 0; i < 20; ++i)
    send_all(out.datagram({}));
  REQUIRE(queue.size() == 0);
  out.clear();  // of the storm
  out.datagram({});
  out.clear();  // of a batch without news

  const std::size_t before = allocations;
  queue_all();
  const bool kept = allocations == before;
  CHECK(kept == keeps);

  out.datagram({});
  CHECK(out.datagram({}).updates.capacity() == 0);
}

TEST_CASE("the counter counts", "[swim]") {
  const std::size_t before = allocations;
  { const std::vector<int> one(1); }
  const std::size_t after = allocations;
  CHECK(after == before + 1);
}
