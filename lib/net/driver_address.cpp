// A member whose advertised address is a host's name follows that name to its next address.
#include <algorithm>
#include <string>

#include "net/advertise.hpp"
#include "net/driver_impl.hpp"

namespace lifering::net {

void driver::impl::watch_own_name() {
  if (!own_name_) return;
  own_name_timer_.expires_after(options_.advertise_refresh);
  own_name_timer_.async_wait([this, token = pending_.begin()](std::error_code error) {
    if (error || state_ != state::running) return;
    own_name_->resolve(options_.advertise_host + ':' + std::to_string(advertised_.port),
                       options_.advertise_refresh);
  });
}

/// Nothing is heard of a name whose server is out of reach, which says nothing about the host.
void driver::impl::own_name_found(const std::vector<endpoint>& addresses) {
  if (state_ != state::running) return;
  // One of several addresses is as good as the others, in whatever order they come.
  const bool is_there =
      std::find(addresses.begin(), addresses.end(), advertised_) != addresses.end();
  const auto next = std::find_if(addresses.begin(), addresses.end(),
                                 [](const endpoint& each) { return !check_advertised(each); });
  if (!is_there && next != addresses.end()) {
    options_.log(log_level::info, options_.advertise_host + " has moved from " +
                                      advertised_.to_string() + " to " + next->to_string() +
                                      ", which is advertised from now on");
    advertised_ = *next;
    swim::update_command moved{};
    moved.address = advertised_;
    command(moved);
  }
  watch_own_name();
}

}  // namespace lifering::net
