// Messages of the application to other members.
#include <lifering/cluster.hpp>

#include "cluster/core.hpp"
#include "cluster/text.hpp"
#include "cluster/waiting.hpp"
#include "swim/message.hpp"

namespace lifering {
namespace {

using cluster_detail::code_of;
using cluster_detail::core;
using cluster_detail::outcome;
using cluster_detail::quoted;
using cluster_detail::run;
using cluster_detail::throw_if_failed;
using cluster_detail::too_long;
using cluster_detail::unattended_operation;

problem to_problem(std::error_code error, std::string_view to) {
  const auto code = static_cast<errc>(error.value());
  if (error == errc::unknown_member) return {code, "no other member is called " + quoted(to)};
  return {code, error.message()};
}

std::optional<problem> check_message(const core& inside, std::string_view to, std::size_t size,
                                     std::size_t max) {
  if (const auto error = inside.may_send_to(to)) return to_problem(error, to);
  if (size > max) return too_long(errc::message_too_large, "message", size, max);
  return std::nullopt;
}

std::optional<problem> try_send(core& inside, std::string_view to, std::string payload) {
  auto found = check_message(inside, to, payload.size(), inside.direct_payload_max());
  if (!found) {
    inside.begin(swim::send_command{{}, std::string(to), false, std::move(payload)},
                 std::make_unique<unattended_operation>());
  }
  return found;
}

std::optional<problem> try_broadcast(core& inside, std::string payload) {
  if (const auto error = inside.may_broadcast()) return to_problem(error, {});
  if (payload.size() > inside.broadcast_payload_max()) {
    return too_long(errc::message_too_large, "message", payload.size(),
                    inside.broadcast_payload_max());
  }
  inside.begin(swim::send_command{{}, {}, false, std::move(payload)},
               std::make_unique<unattended_operation>());
  return std::nullopt;
}

outcome deliver(core& inside, std::string_view to, std::string payload) {
  if (auto found = check_message(inside, to, payload.size(), swim::user_payload_max)) {
    return {found->code, 0, std::move(found->text)};
  }
  return run(inside, swim::send_command{{}, std::string(to), true, std::move(payload)},
             inside.settings().protocol.stream_timeout);
}

}  // namespace

void cluster::send(std::string_view to, std::string payload) {
  throw_if(try_send(*core_, to, std::move(payload)));
}

void cluster::send(std::string_view to, std::string payload, std::error_code& error) {
  error = code_of(try_send(*core_, to, std::move(payload)));
}

void cluster::broadcast(std::string payload) {
  throw_if(try_broadcast(*core_, std::move(payload)));
}

void cluster::broadcast(std::string payload, std::error_code& error) {
  error = code_of(try_broadcast(*core_, std::move(payload)));
}

void cluster::send_reliably(std::string_view to, std::string payload) {
  throw_if_failed(deliver(*core_, to, std::move(payload)));
}

void cluster::send_reliably(std::string_view to, std::string payload, std::error_code& error) {
  error = deliver(*core_, to, std::move(payload)).error;
}

void cluster::start_send(std::string to, std::string payload, operation_ptr done) {
  if (const auto found = check_message(*core_, to, payload.size(), swim::user_payload_max)) {
    return done->complete(found->code, 0, found->text);
  }
  core_->begin(swim::send_command{{}, std::move(to), true, std::move(payload)}, std::move(done));
}

}  // namespace lifering
