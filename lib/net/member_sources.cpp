#include "net/member_sources.hpp"

#include <algorithm>
#include <cstdint>

#include "net/source.hpp"

namespace lifering::net {

bool member_sources::contains(const endpoint& source, const swim::protocol& members,
                              base::time_point now) {
  if (now >= renew_at_) {
    sources_.clear();
    members.for_each_member([this](const swim::record_ptr& of, std::uint64_t, member_state state) {
      const bool is_present = state == member_state::alive || state == member_state::suspect;
      if (is_present) sources_.push_back(source_of(of->address));
    });
    std::ranges::sort(sources_);
    sources_.erase(std::unique(sources_.begin(), sources_.end()), sources_.end());
    renew_at_ = now + base::duration(renew_time);
  }
  return std::ranges::binary_search(sources_, source);
}

}  // namespace lifering::net
