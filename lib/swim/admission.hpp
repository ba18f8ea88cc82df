// Whether a life answers where it says that it is. Whoever lets a stranger in pings it first at the
// address that it advertises: an address that leads elsewhere would be told to everybody, owned
// keys, and be failed for it.
//
// At 40 % loss each way one try in three is answered, hence many; short gaps first, so that a loss
// costs little, and longer ones then, so that a burst of loss doesn't cover them all.
#pragma once

#include <chrono>
#include <cstdint>

#include "swim/core.hpp"

namespace lifering::swim {

class admission {
 public:
  /// Of one that waits to be let in, or of one that others have told of, which has time.
  enum class pace : std::uint8_t { soon, easy };

  explicit admission(pace chosen = pace::soon) noexcept : pace_(chosen) {}

  /// Begins to ask that life, once: what comes later is ignored, so that nobody can have us ping
  /// one address after the other. `provisional`: its epoch isn't settled yet, and only the address
  /// is to be proved.
  void ask(core& shared, const record_ptr& life, bool provisional);

  /// The life that is being asked says something newer of itself; it is asked anew if it has moved.
  void renew(core& shared, const record_ptr& life);

  /// From its next try on it is asked as one that waits.
  void hurry() noexcept { pace_ = pace::soon; }

  /// An ack came. True if it is the answer.
  bool on_ack(std::uint64_t sequence, const sender& by) noexcept;

  /// A host answered that nobody listens at this address.
  void on_refused(const endpoint& address) noexcept;

  /// It is proved in another way: another member vouches for it.
  void vouch() noexcept { standing_ = standing::proved; }

  void advance(core& shared);
  base::time_point next_deadline() const noexcept;

  bool waiting() const noexcept { return standing_ == standing::asked; }
  bool given_up() const noexcept { return standing_ == standing::given_up; }
  /// Whether a life of that name is proved to be at that address.
  bool covers(const record& life) const noexcept;

  /// Once it was asked.
  const record_ptr& life() const noexcept { return life_; }
  bool provisional() const noexcept { return provisional_; }
  /// Why it was given up, for people.
  const char* why() const noexcept;

  static constexpr unsigned tries_max = 28;  ///< 0.64^28 is less than 10^-5.
  static constexpr unsigned easy_tries_max = 6;
  /// With nothing but refusals to show for them, fewer tries are enough: a quarter of the time, in
  /// which whoever binds late or translates addresses may get ready.
  static constexpr unsigned refused_tries = 14;
  static constexpr unsigned refusals_enough = 4;  ///< Hosts tell of few in a second.

 private:
  enum class standing : std::uint8_t { unasked, asked, proved, given_up };

  void begin(core& shared);
  void send(core& shared);
  base::duration gap(const core& shared) const noexcept;

  record_ptr life_;
  std::uint64_t sequence_ = 0;
  base::time_point next_try_{};
  unsigned tries_ = 0;
  unsigned refusals_ = 0;
  standing standing_ = standing::unasked;
  pace pace_;
  bool provisional_ = false;
};

}  // namespace lifering::swim
