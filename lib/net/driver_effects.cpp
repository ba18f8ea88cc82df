// From the machine to the network and the application.
#include <algorithm>
#include <lifering/error.hpp>
#include <type_traits>
#include <variant>

#include "net/driver_impl.hpp"
#include "net/source.hpp"
#include "wire/seal.hpp"

namespace lifering::net {
namespace {

template <class Effect>
constexpr bool is_for_application =
    std::is_same_v<Effect, swim::member_changed> || std::is_same_v<Effect, swim::member_renewed> ||
    std::is_same_v<Effect, swim::completed> || std::is_same_v<Effect, swim::user_received>;

bool says_superseded(const swim::effect& each) {
  const auto* changed = std::get_if<swim::member_changed>(&each);
  return changed != nullptr && changed->kind == event_kind::superseded;
}

}  // namespace

void driver::impl::carry_out() {
  bool is_news = false;
  for (const auto& each : (*effects_)->list()) {
    std::visit(
        [&](const auto& effect) {
          if constexpr (is_for_application<std::remove_cvref_t<decltype(effect)>>) {
            is_news = true;
          } else {
            carry(effect);
          }
        },
        each);
  }
  if (is_news) {
    datagrams_->flush();
    const auto list = (*effects_)->list();
    on_batch_(list);
    if (std::any_of(list.begin(), list.end(), says_superseded)) stop({});
  }
  effects_.reset();
}

void driver::impl::carry(const swim::send_datagram& effect) {
  if (!options_.allow.allows(effect.to)) {
    ++count_.dropped_not_allowed;
    return;
  }
  const auto& packet = (*effects_)->packet_at(effect.packet);
  if (question_ && !question_->is_trusted && effect.to == question_->from) {
    return answer_stranger(packet);
  }
  const auto* asked = std::get_if<swim::ping>(&packet.body);
  const bool asks_stranger = asked != nullptr && !is_member_at(asked->target, effect.to);
  if (asks_stranger && !may_send_to_stranger(effect.to)) return;
  if (options_.keys && asked != nullptr) presume_answered(effect.to, *asked);
  const auto with = proof_beside(effect.to, packet.body);
  if (asks_stranger && ask_stranger(effect.to, packet, with)) return;
  datagrams_->queue(effect.to,
                    [&](std::vector<std::uint8_t>& out) { codec_.encode(packet, out, with); });
}

/// What goes to strangers, who may have made up their addresses, mustn't keep members waiting. From
/// where we have taken a connection somebody is.
bool driver::impl::may_send_to_stranger(const endpoint& to) {
  if (datagrams_->has_room_for_strangers() || streams_->has_accepted_from(source_of(to)))
    return true;
  ++count_.replies_withheld;
  return false;
}

void driver::impl::presume_answered(const endpoint& to, const swim::ping& asked) {
  if (unopened_.counts_as_answered(to, asked, now())) {
    later_.emplace_back(presumed_ack{to, asked});
  }
}

/// A stranger answers with no more than it was sent (below), and may seal where we don't: so our
/// question is made that much longer.
bool driver::impl::ask_stranger(const endpoint& to, const swim::packet& packet,
                                const wire::proof& with) {
  if (!options_.keys || codec_.seals()) return false;
  const base::scratch<encoding> encoded;
  codec_.encode(packet, encoded->bytes, with);
  constexpr std::size_t padding_head = 5;
  const std::size_t size = encoded->bytes.size() + wire::seal_overhead + padding_head;
  encoded->bytes.clear();
  if (!codec_.encode_within(packet, with, size, encoded->bytes)) return false;
  datagrams_->queue(to, encoded->bytes);
  return true;
}

/// Anybody can put a victim's address on a packet. So one who isn't known to be where the packet
/// came from gets no more than it sent, the news that rides along left out first.
void driver::impl::answer_stranger(const swim::packet& reply) {
  if (!may_send_to_stranger(question_->from)) return;
  const base::scratch<encoding> encoded;
  codec_.encode(reply, encoded->bytes);
  if (encoded->bytes.size() > question_->room) {
    swim::packet bare;
    bare.from = reply.from;
    bare.body = reply.body;
    const bool has_news = !reply.updates.empty() || !reply.broadcasts.empty();
    encoded->bytes.clear();
    const bool is_something = !std::holds_alternative<std::monostate>(bare.body);
    if (has_news && is_something) codec_.encode(bare, encoded->bytes);
  }
  if (encoded->bytes.empty() || encoded->bytes.size() > question_->room) {
    ++count_.replies_withheld;
    return;
  }
  question_->room -= encoded->bytes.size();
  datagrams_->queue(question_->from, encoded->bytes);
}

void driver::impl::carry(const swim::open_stream& effect) {
  if (!options_.allow.allows(effect.to)) {
    count_disallowed(effect.to);
    later_.emplace_back(swim::stream_ended{effect.stream, errc::invalid_address});
    return;
  }
  streams_->open(effect.stream, effect.to, effect.deadline);
  if (!codec_.seals()) return;
  const auto added = greetings_.emplace(effect.stream, stream_greeting::of_opener()).first;
  send_proof(effect.stream, added->second.hello());
}

void driver::impl::carry(const swim::send_frame& effect) {
  const auto& packet = (*effects_)->packet_at(effect.packet);
  const auto found = greetings_.find(effect.stream);
  if (found == greetings_.end()) return send_frame(effect.stream, packet, {});
  if (found->second.must_hold()) return hold(effect.stream, found->second, packet);
  send_frame(effect.stream, packet, found->second.echo());
}

/// What waits for greetings counts with what the streams have queued.
void driver::impl::hold(swim::stream_id id, stream_greeting& greeting, const swim::packet& packet) {
  const std::size_t size = swim::size_bound(packet);
  std::size_t waiting = streams_->queued() + size;
  for (const auto& [other, each] : greetings_)
    waiting += each.held_bytes;
  if (waiting > stream_set::queued_max) {
    greetings_.erase(id);
    later_.emplace_back(swim::stream_ended{id, std::make_error_code(std::errc::no_buffer_space)});
    return streams_->drop(id);
  }
  greeting.held.push_back(packet);
  greeting.held_bytes += size;
}

void driver::impl::send_frame(swim::stream_id id, const swim::packet& frame,
                              const wire::proof& with) {
  streams_->send(id,
                 [&](std::vector<std::uint8_t>& out) { codec_.encode_frame(frame, out, with); });
}

void driver::impl::carry(const swim::close_stream& effect) {
  const auto found = greetings_.find(effect.stream);
  if (found != greetings_.end()) {
    if (found->second.must_hold() && !found->second.held.empty()) {
      found->second.closing = true;
      return;
    }
    greetings_.erase(found);
  }
  streams_->close(effect.stream);
}

void driver::impl::carry(const swim::resolve_seed& effect) {
  resolver_->resolve(effect.seed, options_.protocol.timing.stream_timeout);
}

}  // namespace lifering::net
