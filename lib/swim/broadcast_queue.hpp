// Broadcasts of applications on their way, and kept for a while after for those who missed one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "swim/message.hpp"

namespace lifering::swim {

class broadcast_queue {
 public:
  /// Queues a broadcast that isn't kept yet. Over the limits the oldest are forgotten.
  void put(const broadcast& news);

  /// Appends broadcasts of at most `budget` bytes in all to `out`, those sent least often first,
  /// and counts them as sent; each is sent `limit` times.
  void take(std::size_t budget, unsigned limit, std::vector<broadcast>& out);

  /// Calls `visit` for each one kept of that life after number `after`, in order of arrival.
  template <class Visit>
  void for_each_after(std::string_view origin, std::uint64_t epoch, std::uint64_t after,
                      const Visit& visit) const {
    for (const entry& e : entries_) {
      if (e.news.origin == origin && e.news.origin_epoch == epoch && e.news.sequence > after) {
        visit(e.news);
      }
    }
  }

  /// How many are still to be sent, and how many of them never were.
  std::size_t waiting() const noexcept { return waiting_; }
  std::size_t fresh() const noexcept { return fresh_; }

  /// How many came in, ever.
  std::uint64_t generation() const noexcept { return generation_; }

  static constexpr std::size_t kept_max = 256;
  static constexpr std::size_t bytes_max = std::size_t{256} * 1024;

 private:
  struct entry {
    broadcast news;
    std::size_t bytes = 0;
    unsigned sent = 0;
    bool waits = true;
  };

  void forget_oldest();

  std::vector<entry> entries_;  ///< By arrival; few, so linear.
  std::vector<std::size_t> order_;
  std::size_t bytes_ = 0;
  std::size_t waiting_ = 0;
  std::size_t fresh_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace lifering::swim
