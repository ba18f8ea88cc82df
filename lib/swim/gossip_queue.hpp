// News on its way: what is piggybacked on packets, how often, and in which order (SWIM 4.1).
//
// One entry per subject: newer news of a member replaces older. Entries are grouped by class, and
// within a class sent least often first, the freshest first among equals. When not everything fits
// into a packet, every class has a reserved share of it, so that a flood of joins can't starve a
// leave nor the other way round.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/paged_slots.hpp"
#include "base/slot_list.hpp"
#include "swim/member_table.hpp"
#include "swim/message.hpp"
#include "swim/suspicion.hpp"

namespace lifering::swim {

/// In order of urgency.
enum class gossip_class : std::uint8_t { leave, failure, suspicion, refutation, join, metadata };
inline constexpr std::size_t gossip_classes = 6;

class gossip_queue {
 public:
  /// News larger than `largest` bytes fits into no packet and isn't queued; a comparison of views
  /// brings it.
  explicit gossip_queue(std::size_t largest = ~std::size_t{0}) noexcept : largest_(largest) {}

  /// Queues `news`, with its record, about `subject` (a row that outlives the entry), replacing
  /// what is queued about it. The suspicion class alternates between the accusers that were added.
  void put(row_id subject, gossip_class kind, const update& news);

  /// Adds an accuser to a queued suspicion, which is then sent afresh.
  /// False if no suspicion of `subject` is queued, or it has no room for another accuser.
  bool add_accuser(row_id subject, std::string_view name, std::uint64_t epoch, bool refused);

  void remove(row_id subject) noexcept;
  void clear() noexcept;

  /// Appends updates of at most `budget` bytes in all to `out` and counts them as sent. Entries
  /// that were sent `limit` times are dropped. Updates about `except` are left out (it was told
  /// otherwise). Returns the bytes used.
  std::size_t take(std::size_t budget, unsigned limit, row_id except, std::vector<update>& out);

  /// Appends what waits, in the order of urgency and least sent first, up to `budget` bytes, and
  /// counts nothing as sent: for packets that anybody may ask for again and again.
  void show(std::size_t budget, std::vector<update>& out) const;

  /// How many entries wait, and how many of them were never sent.
  std::size_t size() const noexcept { return size_; }
  std::size_t size(gossip_class of) const noexcept { return counts_[static_cast<std::size_t>(of)]; }
  std::size_t fresh() const noexcept { return fresh_; }

  /// How many pieces of news came in, ever, accusers among them.
  std::uint64_t generation() const noexcept { return generation_; }

 private:
  static constexpr std::uint32_t none = base::slot_list<std::uint32_t>::none;
  static constexpr std::size_t kept = 16;  ///< Storage for so many entries isn't given back.
  static constexpr unsigned levels = 32;   ///< Sent 0, 1, .. times; the last level takes the rest.

  /// News without what its subject's record says; half an update's size, as a storm of news has one
  /// for each member.
  struct entry {
    record_ptr about;
    std::uint64_t incarnation = 0;
    std::vector<accuser> accusers;  ///< Of a suspicion or a failure; told of in turn.
    std::uint32_t witnesses = 0;
    std::uint32_t failures = 0;
    std::uint32_t bytes = 0;
    row_id subject = no_row;
    base::slot_links<std::uint32_t> links;
    std::uint16_t sent = 0;
    update_kind claim{};
    gossip_class kind{};

    update next_news() const;
  };
  using list = base::slot_list<std::uint32_t>;

  list& list_of(const entry& e) noexcept;
  auto links_by_index() noexcept {
    return [this](std::uint32_t index) -> auto& {
      return entries_[index].links;
    };
  }
  void push_front(std::uint32_t index) noexcept;
  void push_back(std::uint32_t index) noexcept;
  void unlink(std::uint32_t index) noexcept;
  void drop(std::uint32_t index) noexcept;
  void drop_spent(unsigned limit) noexcept;

  /// After a storm of news, gives back what nothing needs any more.
  void return_storage() noexcept;

  std::size_t take_class(std::size_t kind, std::size_t budget, unsigned limit, row_id except,
                         std::vector<update>& out);

  base::paged_slots<entry, kept> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> by_row_;
  std::array<std::array<list, levels>, gossip_classes> lists_{};
  std::array<std::size_t, gossip_classes> counts_{};
  std::vector<std::uint32_t> taken_;  ///< Sent in the current packet; linked again at its end.
  std::size_t size_ = 0;
  std::size_t fresh_ = 0;
  std::uint64_t generation_ = 0;
  std::size_t largest_;
  unsigned limit_ = 0;  ///< Of the last take().
};

}  // namespace lifering::swim
