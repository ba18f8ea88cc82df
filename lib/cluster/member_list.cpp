#include <lifering/cluster.hpp>

#include "base/check.hpp"
#include "cluster/roster.hpp"

namespace lifering {

member_list::member_list() : members_(std::make_shared<const cluster_detail::member_pointers>()) {}

member_list::member_list(std::shared_ptr<const cluster_detail::member_pointers> members) noexcept
    : members_(std::move(members)) {
  LIFERING_CHECK(members_ != nullptr);
}

const member* member_list::find(std::string_view name) const noexcept {
  const auto place = cluster_detail::find_place(*members_, name);
  return place != members_->end() && (*place)->name == name ? place->get() : nullptr;
}

}  // namespace lifering
