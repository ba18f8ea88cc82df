// What can go wrong, as std::error_code values of one category.
//
// Operating errors (a bad option, a seed that does not answer, a port in use) are reported as an
// std::error_code, or thrown as std::system_error by the throwing twin of an operation. Mistakes in
// the program itself (a broken precondition) are assertions and stop the process. Junk from the
// network is neither: it is dropped and counted.
//
// Each value says what the failed call leaves behind. Unless it says otherwise: nothing changed.
#pragma once

#include <lifering/config.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace lifering {

enum class errc {
  // Values that a caller gave. Nothing changed.
  empty_name = 1,       ///< A member or node needs a name of 1 to 255 bytes.
  name_too_long,        ///< The name has more than 255 bytes.
  empty_cluster_id,     ///< A cluster id of 1 to 64 bytes is required.
  cluster_id_too_long,  ///< The cluster id has more than 64 bytes.
  zone_too_long,        ///< The zone has more than 64 bytes.
  service_too_long,     ///< The service address has more than 255 bytes.
  metadata_too_large,   ///< The metadata exceeds `limits.metadata`.
  message_too_large,    ///< A user message exceeds what its way can carry.
  invalid_address,      ///< Not an address that a member can have.
  invalid_seed,         ///< Not `HOST:PORT`, `HOST`, `[IPV6]:PORT`, `srv:SERVICE`.
  invalid_weight,       ///< Not 0 and not within 0.01 to 100.
  invalid_option,       ///< An option out of its range or against its neighbours.
  invalid_placement,    ///< An unknown placement, or one with impossible parameters.
  too_many_points,      ///< The ring would need more points than the limit.
  duplicate_node,       ///< The ring holds a node of that name already.
  unknown_node,         ///< The ring holds no node of that name.
  empty_key,            ///< An empty key has no owner.
  unknown_member,       ///< No member of that name is known.

  // The state of the cluster object. Nothing changed.
  not_started,      ///< `start()` comes first.
  already_started,  ///< `start()` was called before.
  stopped,          ///< The object was stopped; this operation did nothing.
  busy,             ///< No room for it at the moment; try again later.
  would_deadlock,   ///< A waiting call on a thread whose work it would wait for.

  // The network.
  address_in_use,    ///< Another process holds the port. Nothing was opened.
  no_seed_answered,  ///< No seed answered in time; the member serves alone and tries on.
  timed_out,         ///< The deadline passed before the operation was complete.
  canceled,          ///< The caller or `stop()` ended the operation.
  unreachable,       ///< The network said that nobody is there.

  // A seed refused the join. The member serves alone.
  wrong_cluster,     ///< The seed belongs to a cluster with another id.
  wrong_version,     ///< The seed speaks no protocol version that we speak.
  wrong_placement,   ///< The seed places keys by another placement or parameters.
  name_in_use,       ///< A newer life of this name is a live member.
  too_many_members,  ///< The cluster is at its limit of members.
  wrong_key,         ///< The seed holds no key of ours, or seals where we don't, or the reverse.
};

/// The category of errc; its name is "lifering". Safe from any thread.
LIFERING_API const std::error_category& error_category() noexcept;

/// Makes errc usable where an std::error_code is expected (found by argument-dependent lookup).
inline std::error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), error_category()};
}

/// What a `validate()` found wrong: the kind, and one sentence that names the value and says what
/// would be right, fit to be shown to a person.
struct problem {
  errc code{};
  std::string text;
};

/// Throws std::system_error with the problem's code if there is one; its what() is the sentence.
LIFERING_API void throw_if(const std::optional<problem>& found);

}  // namespace lifering

template <>
struct std::is_error_code_enum<lifering::errc> : std::true_type {};
