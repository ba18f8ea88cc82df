// Tells repeated packets from new ones by their numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

#include "base/slot_index.hpp"
#include "base/slot_list.hpp"

namespace lifering::wire {

/// The numbers that one life used, as far as they matter: those of its packets that came last, and
/// one below which all count as seen (as the anti-replay window of RFC 4303, section 3.4.3, but
/// sparse: a life numbers all that it sends, and most of it goes to others).
class replay_window {
 public:
  /// How many later packets may overtake one, and by how much their numbers may be higher.
  static constexpr std::size_t kept_max = 16;
  static constexpr std::size_t width = 4096;

  /// Takes a number: false if it came before or is older than the window.
  bool accept(std::uint64_t number) noexcept;

  /// Takes all numbers up to this one for seen.
  void begin_after(std::uint64_t number) noexcept;

  std::uint64_t highest() const noexcept { return highest_; }

 private:
  std::uint64_t floor() const noexcept { return highest_ - span_; }
  std::uint64_t full(std::uint16_t low) const noexcept;
  void advance(std::uint64_t number) noexcept;
  void forget_smallest() noexcept;

  std::uint64_t highest_ = 0;
  std::array<std::uint16_t, kept_max> kept_{};  // Above the floor; the low bits of each.
  std::uint16_t span_ = 0;                      // From the floor, which counts as seen, to it.
  std::uint8_t count_ = 0;                      // Of kept_, how many.
};

/// The windows of the lives that sealed packets come from. It remembers the `lives_max` that were
/// heard last, before all those that are proven: whoever plays packets of many lives that have
/// ended can't have those forgotten that are here. A life that was forgotten is heard as if for the
/// first time, and so is its repeated packet. That is one reason why a first packet alone proves
/// nothing: see `receipt`.
///
/// A life is known by 64 bits of a hash. Two that share them by chance would share their numbers
/// too; whoever wants that has a key, and could as well take the other's name.
///
/// Not thread-safe. Memory: about 65 bytes for each life.
class replay_guard {
 public:
  explicit replay_guard(std::size_t lives_max);

  enum class verdict : std::uint8_t {
    fresh,
    first,     ///< Fresh as far as can be known: the first of its life.
    repeated,  ///< Came before, or is too old to say.
  };

  /// Takes packet `number` of a life. Only for packets that a key has opened. Numbers begin at 1; 0
  /// is never fresh.
  verdict accept(std::string_view name, std::uint64_t epoch, std::uint64_t number);

  /// A life has proved with packet `number` that it lives now: what it sent before counts no more.
  void prove(std::string_view name, std::uint64_t epoch, std::uint64_t number);

  /// One who is believed knows that a life was here with its packet `number`: as if it had proved
  /// it with that. Has no effect on a life that is proven, and makes no other such one forgotten.
  void vouch(std::string_view name, std::uint64_t epoch, std::uint64_t number);

  /// Whether this life has proved it, and is remembered since.
  bool is_proven(std::string_view name, std::uint64_t epoch) const;

  /// The highest number of such a life that is known of; of others 0.
  std::uint64_t last_proven(std::string_view name, std::uint64_t epoch) const;

  std::size_t lives() const noexcept { return lives_.size(); }

 private:
  using slot = std::uint16_t;
  using list = base::slot_list<slot>;  ///< The life that was heard last comes first.
  static constexpr slot none = list::none;

  struct life {
    std::uint64_t id = 0;
    [[no_unique_address]] replay_window window;  // What follows fits behind its end.
    bool proven = false;
    base::slot_links<slot> links;
  };
  static_assert(sizeof(life) <= 56, "one a member, in each member");

  slot find(std::uint64_t id) const;
  slot add(std::uint64_t id);
  void prove(slot which, std::uint64_t number);
  list& list_of(const life& subject) noexcept { return subject.proven ? proven_ : unproven_; }
  auto links_by_slot() noexcept {
    return [this](slot which) -> auto& {
      return lives_[which].links;
    };
  }
  void enter(slot which);
  void leave(slot which);

  std::size_t lives_max_;
  std::deque<life> lives_;  // In blocks, since a table that doubles is a quarter empty.
  base::slot_index index_;
  list proven_;
  list unproven_;
};

}  // namespace lifering::wire
