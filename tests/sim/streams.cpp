#include "sim/streams.hpp"

#include <algorithm>
#include <lifering/error.hpp>
#include <utility>

#include "base/check.hpp"

namespace lifering::sim {
namespace {

duration doubled(duration first, unsigned attempt) {
  return first * (std::int64_t{1} << std::min(attempt, 6U));
}

}  // namespace

streams::streams(world& clock, hosts& where, network& packets, stream_user& user,
                 duration accepted_deadline)
    : clock_(clock),
      hosts_(where),
      network_(packets),
      user_(user),
      accepted_deadline_(accepted_deadline) {}

void streams::open(node_id node, swim::stream_id stream, const endpoint& to, duration deadline) {
  LIFERING_CHECK(!swim::is_accepted(stream) && !ends_.contains({node, stream}));
  auto which = std::make_shared<connection>();
  end& opener = which->ends[0];
  opener.node = node;
  opener.life = hosts_.life(node);
  opener.id = stream;
  opener.listening = true;
  which->to = to;
  which->from = hosts_.address(node);
  ends_[{node, stream}] = {which, 0};
  expire_after(which, 0, deadline);
  handshake(which, 0);
}

void streams::send(node_id node, swim::stream_id stream, std::span<const std::uint8_t> frame) {
  // The stream may have ended while the process didn't know yet.
  const auto found = ends_.find({node, stream});
  if (found == ends_.end()) return;
  const end_ref at = found->second;
  queue(at.of, at.side, item_kind::frame, frame);
}

void streams::close(node_id node, swim::stream_id stream) {
  const auto found = ends_.find({node, stream});
  if (found == ends_.end()) return;
  const end_ref at = found->second;
  at.of->ends[at.side].listening = false;
  ends_.erase(found);
  queue(at.of, at.side, item_kind::end, {});
}

void streams::process_ended(node_id node, presence left_behind) {
  auto next = ends_.lower_bound({node, swim::stream_id{0}});
  while (next != ends_.end() && next->first.first == node) {
    const end_ref at = next->second;
    next = ends_.erase(next);
    at.of->ends[at.side].listening = false;
    if (left_behind == presence::refusing) reset_other(at.of, at.side);
  }
}

void streams::handshake(const link& which, unsigned attempt) {
  end& opener = which->ends[0];
  if (!opener.listening || !alive(*which, 0)) return;
  const node_id target = hosts_.owner(which->to).value_or(0);
  const duration there = network_.draw_latency();
  if (target == 0 || !network_.passes(opener.node, target)) return handshake_again(which, attempt);
  clock_.after(there, [this, which, attempt] { reach_listener(which, attempt); });
}

void streams::handshake_again(const link& which, unsigned attempt) {
  ++counters_.retries;
  clock_.after(doubled(handshake_timeout, attempt),
               [this, which, attempt] { handshake(which, attempt + 1); });
}

void streams::reach_listener(const link& which, unsigned attempt) {
  const node_id target = *hosts_.owner(which->to);
  const presence found = hosts_.at(which->to);
  const duration back = network_.draw_latency();
  if (found == presence::silent || !network_.passes(target, which->ends[0].node)) {
    return handshake_again(which, attempt);
  }
  if (found == presence::refusing) {
    ++counters_.refused;
    clock_.after(back, [this, which] {
      end_side(which, 0, std::make_error_code(std::errc::connection_refused));
    });
    return;
  }
  end& acceptor = which->ends[1];
  acceptor.node = target;
  acceptor.life = hosts_.life(target);
  clock_.after(back, [this, which] { establish(which); });
}

void streams::establish(const link& which) {
  end& opener = which->ends[0];
  if (!opener.listening && opener.outgoing.empty()) return;  // Closed or timed out meanwhile.
  which->established = true;
  // The last step of the handshake tells the acceptor; the frames queued so far follow it.
  auto first = std::make_shared<item>();
  first->kind = item_kind::accept;
  opener.outgoing.push_front(std::move(first));
  const auto waiting = opener.outgoing;
  for (const auto& what : waiting)
    transmit(which, 0, what, 0);
  if (!opener.listening || !alive(*which, 0)) return;
  ++counters_.opened;
  hosts_.deliver(opener.node, 0, [this, which] {
    if (which->ends[0].listening) user_.on_opened(which->ends[0].node, which->ends[0].id);
  });
}

void streams::queue(const link& which, int side, item_kind kind,
                    std::span<const std::uint8_t> bytes) {
  auto what = std::make_shared<item>();
  what->kind = kind;
  what->bytes.assign(bytes.begin(), bytes.end());
  what->segments_left = std::max<std::size_t>((bytes.size() + segment - 1) / segment, 1);
  which->ends[side].outgoing.push_back(what);
  if (which->established) transmit(which, side, what, 0);
}

void streams::transmit(const link& which, int side, const std::shared_ptr<item>& what,
                       unsigned attempt) {
  const end& sender = which->ends[side];
  const end& receiver = which->ends[1 - side];
  // A process that ended sends nothing more; what its kernel still had doesn't matter here.
  if (!alive(*which, side)) return;
  const std::size_t bytes = what->kind == item_kind::frame ? what->bytes.size() : 40;
  const duration line = network_.occupy(sender.node, attempt == 0 ? bytes : segment);
  const bool way_back = network_.passes(receiver.node, sender.node);
  for (std::size_t left = what->segments_left; left > 0; --left)
    if (network_.passes(sender.node, receiver.node) && way_back) --what->segments_left;
  const duration time = line + network_.draw_latency();
  if (what->segments_left > 0 ||
      hosts_.at(side == 0 ? which->to : which->from) == presence::silent) {
    what->segments_left = std::max<std::size_t>(what->segments_left, 1);
    ++counters_.retries;
    clock_.after(doubled(segment_timeout, attempt),
                 [this, which, side, what, attempt] { transmit(which, side, what, attempt + 1); });
    return;
  }
  what->through = true;
  what->through_at = clock_.now() + time;
  hand_over(which, side);
}

void streams::hand_over(const link& which, int side) {
  end& sender = which->ends[side];
  while (!sender.outgoing.empty() && sender.outgoing.front()->through) {
    const auto what = std::move(sender.outgoing.front());
    sender.outgoing.pop_front();
    sender.last_arrival = std::max({sender.last_arrival, what->through_at, clock_.now()});
    clock_.at(sender.last_arrival, [this, which, side, what] { arrive(which, side, *what); });
  }
}

void streams::arrive(const link& which, int side, item& what) {
  const int other = 1 - side;
  end& receiver = which->ends[other];
  if (!alive(*which, other)) {
    if (hosts_.at(side == 0 ? which->to : which->from) == presence::refusing) {
      reset_other(which, other);
    }
    return;
  }
  switch (what.kind) {
    case item_kind::accept:
      return accept(which);
    case item_kind::end:
      return end_side(which, other, {});
    case item_kind::frame:
      break;
  }
  if (!receiver.listening) return;
  ++counters_.frames;
  hosts_.deliver(receiver.node, 0, [this, which, other, bytes = std::move(what.bytes)] {
    const end& at = which->ends[other];
    if (at.listening) user_.on_frame(at.node, at.id, bytes);
  });
}

void streams::accept(const link& which) {
  end& acceptor = which->ends[1];
  if (accepted_so_far_.size() <= acceptor.node) accepted_so_far_.resize(acceptor.node + 1UL);
  const std::uint64_t number = ++accepted_so_far_[acceptor.node];
  acceptor.id = swim::stream_id{number | swim::accepted_stream_bit};
  acceptor.listening = true;
  ends_[{acceptor.node, acceptor.id}] = {which, 1};
  expire_after(which, 1, accepted_deadline_);
  ++counters_.accepted;
  hosts_.deliver(acceptor.node, 0, [this, which] {
    const end& at = which->ends[1];
    if (at.listening) user_.on_accepted(at.node, at.id, which->from);
  });
}

void streams::end_side(const link& which, int side, std::error_code error) {
  end& at = which->ends[side];
  if (!at.listening || !alive(*which, side)) return;
  // Told in the order of what came before; a paused process learns it when it wakes.
  hosts_.deliver(at.node, 0, [this, which, side, error] {
    end& told = which->ends[side];
    if (!std::exchange(told.listening, false)) return;
    ends_.erase({told.node, told.id});
    user_.on_ended(told.node, told.id, error);
  });
}

void streams::reset_other(const link& which, int side) {
  const end& from = which->ends[side];
  const end& to = which->ends[1 - side];
  if (to.node == 0 || from.node == 0) return;
  const duration time = network_.draw_latency();
  if (!network_.passes(from.node, to.node)) return;
  ++counters_.reset;
  clock_.after(time, [this, which, side] {
    end_side(which, 1 - side, std::make_error_code(std::errc::connection_reset));
  });
}

void streams::expire_after(const link& which, int side, duration deadline) {
  clock_.after(deadline, [this, which, side] {
    if (!which->ends[side].listening || !alive(*which, side)) return;
    ++counters_.timed_out;
    end_side(which, side, make_error_code(errc::timed_out));
    reset_other(which, side);
  });
}

bool streams::alive(const connection& which, int side) const noexcept {
  const end& at = which.ends[side];
  return at.node != 0 && hosts_.running(at.node) && hosts_.life(at.node) == at.life;
}

}  // namespace lifering::sim
