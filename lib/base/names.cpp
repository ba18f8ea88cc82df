// The words for the public enumerations, as events, logs and the agent print them.
#include <lifering/event.hpp>
#include <lifering/member.hpp>
#include <lifering/options.hpp>

namespace lifering {

std::string_view to_string(member_state state) noexcept {
  switch (state) {
    case member_state::alive:
      return "alive";
    case member_state::suspect:
      return "suspect";
    case member_state::failed:
      return "failed";
    case member_state::left:
      return "left";
  }
  return "unknown";
}

std::string_view to_string(member_phase phase) noexcept {
  switch (phase) {
    case member_phase::serving:
      return "serving";
    case member_phase::joining:
      return "joining";
    case member_phase::draining:
      return "draining";
  }
  return "unknown";
}

std::string_view to_string(message_kind kind) noexcept {
  switch (kind) {
    case message_kind::direct:
      return "direct";
    case message_kind::reliable:
      return "reliable";
    case message_kind::broadcast:
      return "broadcast";
  }
  return "unknown";
}

std::string_view to_string(event_kind kind) noexcept {
  switch (kind) {
    case event_kind::joined:
      return "joined";
    case event_kind::updated:
      return "updated";
    case event_kind::suspected:
      return "suspected";
    case event_kind::recovered:
      return "recovered";
    case event_kind::failed:
      return "failed";
    case event_kind::left:
      return "left";
    case event_kind::superseded:
      return "superseded";
    case event_kind::isolated:
      return "isolated";
  }
  return "unknown";
}

std::string_view to_string(log_level level) noexcept {
  switch (level) {
    case log_level::debug:
      return "debug";
    case log_level::info:
      return "info";
    case log_level::warning:
      return "warning";
    case log_level::error:
      return "error";
    case log_level::off:
      return "off";
  }
  return "unknown";
}

}  // namespace lifering
