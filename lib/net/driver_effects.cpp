// From the machine to the network and the application.
#include <algorithm>
#include <type_traits>
#include <variant>

#include "net/driver_impl.hpp"

namespace lifering::net {
namespace {

template <class Effect>
constexpr bool is_for_application =
    std::is_same_v<Effect, swim::member_changed> || std::is_same_v<Effect, swim::completed> ||
    std::is_same_v<Effect, swim::user_received>;

bool says_superseded(const swim::effect& each) {
  const auto* changed = std::get_if<swim::member_changed>(&each);
  return changed != nullptr && changed->kind == event_kind::superseded;
}

}  // namespace

void driver::impl::carry_out() {
  bool is_news = false;
  for (const auto& each : effects_.list()) {
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
    udp_->flush();
    const auto list = effects_.list();
    on_batch_(list);
    if (std::any_of(list.begin(), list.end(), says_superseded)) stop({});
  }
  effects_.clear();
  is_busy_ = false;
}

void driver::impl::carry(const swim::send_datagram& effect) {
  udp_->queue(effect.to, [&](std::vector<std::uint8_t>& out) {
    codec_.encode(effects_.packet_at(effect.packet), out);
  });
}

void driver::impl::carry(const swim::open_stream& effect) {
  streams_->open(effect.stream, effect.to, effect.deadline);
}

void driver::impl::carry(const swim::send_frame& effect) {
  streams_->send(effect.stream, [&](std::vector<std::uint8_t>& out) {
    codec_.encode(effects_.packet_at(effect.packet), out);
  });
}

void driver::impl::carry(const swim::close_stream& effect) {
  streams_->close(effect.stream);
}

void driver::impl::carry(const swim::resolve_seed& effect) {
  resolver_->resolve(effect.seed, options_.protocol.timing.stream_timeout);
}

}  // namespace lifering::net
