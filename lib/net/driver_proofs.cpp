// Who has proved to be alive: sealed packets of a life change nothing before it has echoed a number
// that we drew for it, so that what was recorded yesterday is worth nothing today.
#include <algorithm>
#include <chrono>
#include <lifering/error.hpp>
#include <optional>
#include <utility>

#include "net/driver_impl.hpp"

namespace lifering::net {
namespace {

/// A challenge may be answered until the end of the next one of these.
constexpr std::chrono::seconds period_length{5};

}  // namespace

std::uint64_t driver::impl::challenge_period() {
  return static_cast<std::uint64_t>(now().time_since_epoch() / base::duration(period_length)) + 1;
}

bool driver::impl::is_echo(const endpoint& from, const wire::proof& proof) const {
  const auto& by = incoming_.from;
  return challenger_.is_echo(proof.echo, by.name, by.epoch, from, challenge_period());
}

/// What is said in the shell's own name: who we are, and nothing that the machine decides.
swim::packet driver::impl::bare_packet() const {
  const auto& self = *machine_->self();
  swim::packet made;
  made.from.name = self.name;
  made.from.epoch = self.epoch;
  return made;
}

// Datagrams.

/// Whether the datagram that was decoded last is one for the machine. Proofs go to and fro here:
///
///   a life that isn't proven    any packet        dropped
///   we                          challenge         as long as the packet
///   the life                    echo, news        not longer than the challenge
///
/// Nothing is kept for a stranger, and nobody gets more than he sent. What was dropped is made good
/// by the news beside the echo: while a cluster forms, most packets are first ones.
bool driver::impl::may_change_things(const endpoint& from, std::size_t size) {
  const auto& receipt = codec_.last_receipt();
  if (!receipt.sealed) return true;
  if (is_echo(from, receipt.proof)) codec_.mark_proven(incoming_.from);
  const bool is_proven = receipt.proven || !codec_.seals();
  const auto ours = [&]() -> std::uint64_t {
    // An answer to our challenge that isn't good is not answered by another, to no end.
    if (is_proven || receipt.proof.echo != 0) return 0;
    const auto& by = incoming_.from;
    return challenger_.number_for(by.name, by.epoch, from, challenge_period());
  };
  const bool is_proof_alone = receipt.proof.challenge != 0 || receipt.proof.echo != 0;
  if (is_proven && !is_proof_alone) unopened_.opened(from, incoming_.from, now());
  if (receipt.proof.challenge != 0) {
    send_proof(from, {ours(), receipt.proof.challenge}, size);
  } else if (!is_proven && !is_proof_alone) {
    ++count_.dropped_unproven;
    send_proof(from, {ours(), 0}, size);
  }
  return is_proven && (!is_proof_alone || !incoming_.updates.empty());
}

void driver::impl::send_proof(const endpoint& to, const wire::proof& with, std::size_t size_max) {
  reply_.clear();
  // Filled up, because what answers it must have room for a longer name.
  // What came may be larger than what our own paths are known to carry.
  const std::size_t room = std::min(size_max, options_.protocol.limits.datagram);
  const std::size_t around = codec_.overhead() + wire::proof_size_max;
  std::optional<swim::packet> said;
  if (with.echo != 0 && room > around) said = machine_->news_within(room - around);
  if (!said) said = bare_packet();
  const bool is_complete = codec_.encode_within(*said, with, room, reply_);
  if (!is_complete) {
    ++count_.replies_withheld;
    return;
  }
  if (with.challenge != 0) ++count_.challenges_sent;
  datagrams_->queue(to, [this](std::vector<std::uint8_t>& out) {
    out.insert(out.end(), reply_.begin(), reply_.end());
  });
}

// Streams.

void driver::impl::send_proof(swim::stream_id id, const wire::proof& with) {
  send_frame(id, bare_packet(), with);
}

/// Whether the frame that was decoded last is one for the machine.
bool driver::impl::may_pass(swim::stream_id id) {
  const auto& receipt = codec_.last_receipt();
  auto found = greetings_.find(id);
  if (found == greetings_.end()) {
    const bool greets = receipt.proof.challenge != 0;
    if (swim::is_accepted(id) && (greets || (receipt.sealed && codec_.seals()))) {
      found = greetings_.emplace(id, stream_greeting::of_acceptor()).first;
    } else if ((receipt.sealed && codec_.seals()) ||
               (!swim::is_accepted(id) && receipt.proof.echo != 0)) {
      // Opened before we began to seal; or the peer's last word, that it can't take what we sent.
      refuse_unproven(id);
      return false;
    } else {
      return true;
    }
  }
  switch (found->second.take(receipt)) {
    case stream_greeting::step::pass:
      if (receipt.sealed) codec_.mark_proven(incoming_.from);
      return true;
    case stream_greeting::step::answer:
      ++count_.challenges_sent;
      send_proof(id, found->second.hello());
      return false;
    case stream_greeting::step::opened:
      if (receipt.sealed) codec_.mark_proven(incoming_.from);
      release_held(id, found->second);
      return false;
    case stream_greeting::step::refuse:
      break;
  }
  refuse_unproven(id);
  return false;
}

void driver::impl::release_held(swim::stream_id id, stream_greeting& greeting) {
  greeting.held_bytes = 0;
  for (const auto& frame : std::exchange(greeting.held, {}))
    send_frame(id, frame, greeting.echo());
  if (!greeting.closing) return;
  greetings_.erase(id);
  streams_->close(id);
}

void driver::impl::refuse_unproven(swim::stream_id id) {
  ++count_.dropped_unproven;
  ++count_.streams_failed;
  greetings_.erase(id);
  // One who has no room says so before any greeting, and there is nothing in it to be proved.
  const auto* refusal = std::get_if<swim::refusal>(&incoming_.body);
  const bool is_busy = refusal != nullptr && refusal->reason == swim::refusal_reason::busy;
  apply(swim::stream_ended{id, is_busy ? std::error_code{} : errc::wrong_key});
  streams_->drop(id);
}

}  // namespace lifering::net
