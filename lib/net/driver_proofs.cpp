// Who has proved to be alive: sealed packets of a life change nothing before it has echoed a number
// that we drew for it, so that what was recorded yesterday is worth nothing today.
#include <algorithm>
#include <chrono>
#include <lifering/error.hpp>
#include <utility>
#include <variant>

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
  const auto& by = incoming_->from;
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
///   a life that isn't proven    any packet                   dropped
///   we                          challenge                    as long as the packet
///   the life                    echo, question or news       no news beyond the challenge's length
///
/// Nothing is kept for a stranger, and nobody gets more than he sent, unless we have sent it to him
/// of our own accord. What was dropped is made good by the question, which comes again, or the news
/// beside the echo: while a cluster forms, most packets are first ones. The first ping to a life
/// has a challenge with it, so that both have proved it, and the ping is answered, after two
/// packets to and two fro. For a while all that we send to a challenger has the echo with it, since
/// one packet may be lost.
bool driver::impl::may_change_things(const endpoint& from, std::size_t size) {
  const auto& receipt = codec_.last_receipt();
  const bool has_proof = receipt.proof.challenge != 0 || receipt.proof.echo != 0;
  const bool is_bare = std::holds_alternative<std::monostate>(incoming_->body) &&
                       incoming_->updates.empty() && incoming_->broadcasts.empty();
  const bool is_proof_alone = has_proof && is_bare;
  // In mode `off` a challenge is echoed in plain, and proves nothing.
  if (!receipt.sealed) return !is_proof_alone;
  if (is_echo(from, receipt.proof)) codec_.mark_proven(incoming_->from);
  const bool is_proven = receipt.proven || !codec_.seals();
  if (is_proven && !is_proof_alone) unopened_.opened(from, incoming_->from, now());
  if (!is_proven && !is_proof_alone) ++count_.dropped_unproven;
  if (receipt.proven) codec_.believe_vouchers(*incoming_);
  // An echo that isn't good is not answered by another challenge, to no end, unless a question
  // comes with it, which comes twice at most: an earlier life of ours at this address, or who plays
  // its packets again, may have asked for that number.
  const bool may_ask = receipt.proof.echo == 0 || recently_asked::is_question(incoming_->body);
  const std::uint64_t ours =
      !is_proven && may_ask ? challenge_for(incoming_->from.name, incoming_->from.epoch, from) : 0;
  const bool is_asked = receipt.proof.challenge != 0;
  if ((is_asked || ours != 0) &&
      (is_member_at(incoming_->from.name, from) || may_send_to_stranger(from))) {
    const wire::proof with{ours, receipt.proof.challenge};
    if (is_asked)
      answer_challenge(from, with, size);
    else
      send_proof(from, with, size);
  }
  return is_proven && !is_proof_alone;
}

std::uint64_t driver::impl::challenge_for(std::string_view name, std::uint64_t epoch,
                                          const endpoint& at) const {
  return challenger_.number_for(name, epoch, at, challenge_period());
}

/// What a packet to `to` is sent with: our echo, if it may be wanted there, and a challenge, if
/// this is the first ping to that life. Until a life has proved itself here, we haven't there, and
/// it may drop what we ask.
wire::proof driver::impl::proof_beside(const endpoint& to, const swim::body& content) {
  if (!codec_.seals()) return {};
  const auto time = now();
  wire::proof made{0, echoes_.number_for(to, time)};
  if (!recently_asked::is_question(content)) return made;
  asked_.forget_old(time);
  echoes_.forget_old(time);
  const auto* asked = std::get_if<swim::ping>(&content);
  if (asked != nullptr && codec_.is_proven(asked->target, asked->target_epoch)) return made;
  asked_.add(to, content, time);
  if (asked == nullptr) return made;
  ++count_.challenges_sent;
  made.challenge = challenge_for(asked->target, asked->target_epoch, to);
  return made;
}

/// With the echo goes what the challenger has dropped, as far as it is ours to ask again, and news.
void driver::impl::answer_challenge(const endpoint& from, const wire::proof& with,
                                    std::size_t size_max) {
  echoes_.add(from, with.echo, now());
  auto dropped = asked_.take(from, now());
  if (!dropped) return send_proof(from, with, size_max);
  // It went out before, with room for a proof: so both fit, and the news is what must give way.
  const std::size_t around = codec_.overhead() + wire::proof_size_max;
  const std::size_t limit = options_.protocol.limits.datagram - swim::size_bound(*dropped);
  const std::size_t room = std::min(size_max, limit);
  auto again = machine_->news_within(room > around ? room - around : 0);
  again.body = std::move(*dropped);
  if (with.challenge != 0) ++count_.challenges_sent;
  datagrams_->queue(from, [&](std::vector<std::uint8_t>& out) { codec_.encode(again, out, with); });
}

void driver::impl::send_proof(const endpoint& to, const wire::proof& with, std::size_t size_max) {
  const base::scratch<encoding> encoded;
  // Filled up, because what answers it must have room for a longer name.
  // What came may be larger than what our own paths are known to carry.
  const std::size_t room = std::min(size_max, options_.protocol.limits.datagram);
  const std::size_t around = codec_.overhead() + wire::proof_size_max;
  swim::packet said;
  if (with.echo != 0 && room > around) said = machine_->news_within(room - around);
  if (said.updates.empty()) said = bare_packet();
  if (!codec_.encode_within(said, with, room, encoded->bytes)) {
    ++count_.replies_withheld;
    return;
  }
  if (with.challenge != 0) ++count_.challenges_sent;
  datagrams_->queue(to, encoded->bytes);
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
    const bool needs_proof = receipt.sealed && codec_.seals();
    if (swim::is_accepted(id) && (greets || needs_proof)) {
      found = greetings_.emplace(id, stream_greeting::of_acceptor()).first;
    } else if (needs_proof) {
      // Opened before we began to seal, so without a greeting; the next one has it.
      refuse_unproven(id, {});
      return false;
    } else if (!swim::is_accepted(id) && receipt.proof.echo != 0) {
      // The peer's last word, that it can't take what we sent.
      refuse_unproven(id, errc::wrong_key);
      return false;
    } else {
      return true;
    }
  }
  switch (found->second.take(receipt)) {
    case stream_greeting::step::pass:
      if (receipt.sealed) {
        codec_.mark_proven(incoming_->from);
        codec_.believe_vouchers(*incoming_);
      }
      return true;
    case stream_greeting::step::answer:
      ++count_.challenges_sent;
      send_proof(id, found->second.hello());
      return false;
    case stream_greeting::step::opened:
      if (receipt.sealed) codec_.mark_proven(incoming_->from);
      release_held(id, found->second);
      return false;
    case stream_greeting::step::refuse:
      break;
  }
  refuse_unproven(id, errc::wrong_key);
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

/// Without an error it counts as one for which there was no room, which is tried again.
void driver::impl::refuse_unproven(swim::stream_id id, std::error_code error) {
  ++count_.dropped_unproven;
  ++count_.streams_failed;
  greetings_.erase(id);
  // One who has no room says so before any greeting, and there is nothing in it to be proved.
  const auto* refusal = std::get_if<swim::refusal>(&incoming_->body);
  const bool is_busy = refusal != nullptr && refusal->reason == swim::refusal_reason::busy;
  apply(swim::stream_ended{id, is_busy ? std::error_code{} : error});
  streams_->drop(id);
}

}  // namespace lifering::net
