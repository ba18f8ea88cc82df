#include "sim/hosts.hpp"

#include <utility>

#include "base/check.hpp"

namespace lifering::sim {
namespace {

constexpr std::uint16_t member_port = 7946;

}  // namespace

hosts::hosts(world& clock, faults& record, node_id nodes, std::size_t receive_buffer)
    : clock_(clock),
      record_(record),
      receive_buffer_(receive_buffer),
      table_(nodes + std::size_t{1}) {}

endpoint hosts::address_of(node_id node, std::uint8_t moves) {
  LIFERING_CHECK(node > 0 && node <= node_limit);
  return endpoint::v4(
      {10, moves, static_cast<std::uint8_t>(node >> 8), static_cast<std::uint8_t>(node & 0xff)},
      member_port);
}

std::optional<node_id> hosts::owner(const endpoint& address) const noexcept {
  const auto& bytes = address.bytes;
  const node_id node = (node_id{bytes[14]} << 8) | bytes[15];
  if (bytes[12] != 10 || address.port != member_port || node == 0 || node >= table_.size()) {
    return std::nullopt;
  }
  return node;
}

presence hosts::at(const endpoint& address) const noexcept {
  const auto node = owner(address);
  if (!node) return presence::silent;
  const host& found = table_[*node];
  const std::uint8_t moves = address.bytes[13];
  if (moves == found.moves) return found.now;
  return moves < found.left_behind.size() ? found.left_behind[moves] : presence::silent;
}

void hosts::start(node_id node, bool moved) {
  host& where = table_[node];
  LIFERING_CHECK(where.now != presence::running);
  if (moved) {
    LIFERING_CHECK(where.moves < 255);
    where.left_behind.push_back(where.now);
    ++where.moves;
  }
  if (where.life > 0) record_.stopped(clock_.now(), node, false);
  where.now = presence::running;
  ++where.life;
}

void hosts::stop(node_id node, presence leaves) {
  host& where = table_[node];
  LIFERING_CHECK(where.now == presence::running && leaves != presence::running);
  where.now = leaves;
  where.inbox.clear();
  where.outbox.clear();
  where.buffered = 0;
  for (; where.pauses > 0; --where.pauses)
    record_.hampered(clock_.now(), node, false);
  for (; where.blocks > 0; --where.blocks)
    record_.hampered(clock_.now(), node, false);
  record_.stopped(clock_.now(), node, true);
}

void hosts::pause(node_id node) {
  ++table_[node].pauses;
  record_.hampered(clock_.now(), node, true);
}

void hosts::block(node_id node) {
  ++table_[node].blocks;
  record_.hampered(clock_.now(), node, true);
}

void hosts::resume(node_id node, std::uint32_t life) {
  if (life != table_[node].life || table_[node].pauses == 0) return;
  --table_[node].pauses;
  record_.hampered(clock_.now(), node, false);
}

void hosts::unblock(node_id node, std::uint32_t life) {
  if (life != table_[node].life || table_[node].blocks == 0) return;
  --table_[node].blocks;
  record_.hampered(clock_.now(), node, false);
}

void hosts::drain(node_id node, std::size_t at_most) {
  host& where = table_[node];
  // What the process does on the way may stop, pause or block it again.
  for (; at_most > 0 && !hampered(node) && !drained(node); --at_most) {
    auto& queue = where.outbox.empty() ? where.inbox : where.outbox;
    const auto next = std::move(queue.front());
    queue.pop_front();
    if (where.inbox.empty()) where.buffered = 0;
    next();
  }
}

bool hosts::deliver(node_id node, std::size_t datagram_size, world::action what) {
  host& where = table_[node];
  LIFERING_CHECK(where.now == presence::running);
  if (!hampered(node)) {
    what();
    return true;
  }
  if (datagram_size > 0) {
    const std::size_t cost = datagram_size + packet_overhead;
    if (where.buffered + cost > receive_buffer_) return false;
    where.buffered += cost;
  }
  where.inbox.push_back(std::move(what));
  return true;
}

void hosts::emit(node_id node, world::action what) {
  host& where = table_[node];
  if (blocked(node)) {
    where.outbox.push_back(std::move(what));
  } else {
    what();
  }
}

}  // namespace lifering::sim
