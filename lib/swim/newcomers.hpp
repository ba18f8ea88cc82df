// Lives that nobody here knows and that might be long gone: one whose grave has ended looks like
// one that never was. A member that has been here for longer than graves last can't tell the two
// apart by what it remembers, so it admits an unknown life only once that has answered a probe
// itself. Nobody admits an unknown life on its own word alone, which may be wrong about where it
// is, nor on that of another stranger.
#pragma once

#include <cstdint>
#include <vector>

#include "swim/admission.hpp"
#include "swim/core.hpp"

namespace lifering::swim {

class newcomers {
 public:
  explicit newcomers(core& shared) noexcept : shared_(shared) {}

  /// Whether an unknown life may be one that was forgotten.
  bool must_prove() const noexcept;

  /// Asks a life whether it is there; a few times, in case packets are lost. `by_itself`: it has
  /// told us of itself and waits to be admitted, so as often and as soon as on a stream.
  void ask(const record_ptr& life, bool by_itself);

  /// Whether those may be asked of whom no member has told. Few at a time, so that inventions take
  /// no place from newcomers who speak for themselves, and add no work where answers are slow.
  bool has_room_for_hearsay() const noexcept { return asked_.size() < hearsay_max; }

  bool asks_at(const endpoint& address) const noexcept;

  /// An ack of that number came: the life that has proved itself so, or null.
  record_ptr on_ack(std::uint64_t sequence, const sender& by);

  void advance();
  base::time_point next_deadline() const noexcept;
  void stop() noexcept { asked_.clear(); }

 private:
  core& shared_;
  std::vector<admission> asked_;  ///< All of them wait.

  static constexpr std::size_t candidates_max = 1024;
  static constexpr std::size_t hearsay_max = 64;
};

}  // namespace lifering::swim
