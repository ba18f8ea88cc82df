// Tells repeated packets from new ones by their numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lifering::wire {

/// The numbers that one life used, as far as they matter: those of its packets that came last, and
/// one below which all count as seen (as the anti-replay window of RFC 4303, section 3.4.3, but
/// sparse: a life numbers all that it sends, and most of it goes to others).
class replay_window {
 public:
  /// How many later packets may overtake one, and by how much their numbers may be higher.
  static constexpr std::size_t kept_max = 32;
  static constexpr std::size_t width = 4096;

  /// Takes a number: false if it came before or is older than the window.
  bool accept(std::uint64_t number) noexcept;

  /// Takes all numbers up to this one for seen.
  void begin_after(std::uint64_t number) noexcept;

 private:
  std::uint64_t full(std::uint16_t low) const noexcept;
  void advance(std::uint64_t number) noexcept;
  void forget_smallest() noexcept;

  std::uint64_t highest_ = 0;
  std::uint64_t floor_ = 0;                     // This and all below it count as seen.
  std::array<std::uint16_t, kept_max> kept_{};  // Above the floor; the low bits of each.
  std::size_t count_ = 0;                       // Of kept_, how many.
};

/// The windows of the lives that sealed packets come from. It remembers the `lives_max` that were
/// heard last, before all those that are proven: whoever plays packets of many lives that have
/// ended can't have those forgotten that are here. A life that was forgotten is heard as if for the
/// first time, and so is its repeated packet. That is one reason why a first packet alone proves
/// nothing: see `receipt`.
///
/// Not thread-safe. Memory: about 200 bytes and the name for each life.
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

  /// Whether this life has proved it, and is remembered since.
  bool is_proven(std::string_view name, std::uint64_t epoch) const;

  std::size_t lives() const noexcept { return windows_.size(); }

 private:
  struct life {
    std::string name;
    std::uint64_t epoch;
    replay_window window;
    bool proven = false;
  };
  struct key {
    std::string_view name;  // Of the life, or of who is looked for.
    std::uint64_t epoch;
    friend bool operator==(const key&, const key&) = default;
  };
  struct hash {
    std::size_t operator()(const key& of) const noexcept;
  };

  std::list<life>& list_of(const life& subject) noexcept {
    return subject.proven ? proven_ : unproven_;
  }
  life& add(std::string_view name, std::uint64_t epoch);

  std::size_t lives_max_;
  std::list<life> proven_;  // Heard last comes first.
  std::list<life> unproven_;
  std::unordered_map<key, std::list<life>::iterator, hash> windows_;
};

}  // namespace lifering::wire
