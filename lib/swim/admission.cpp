#include "swim/admission.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace lifering::swim {
namespace {

/// From the first try to giving up one that waits: half the time of a stream, so that the answer
/// still finds it open, and less than a join waits by default.
base::duration patience(const protocol_options& timing) noexcept {
  return std::min<base::duration>(base::duration(timing.stream_timeout) / 2,
                                  std::chrono::seconds(5));
}

}  // namespace

void admission::ask(core& shared, const record_ptr& life, bool provisional) {
  if (standing_ != standing::unasked) return;
  standing_ = standing::asked;
  life_ = life;
  provisional_ = provisional;
  begin(shared);
}

void admission::renew(core& shared, const record_ptr& life) {
  LIFERING_CHECK(waiting());
  const bool moved = life->address != life_->address;
  life_ = life;
  if (moved) begin(shared);
}

/// Under a number of its own, which an answer from where it was before doesn't have.
void admission::begin(core& shared) {
  sequence_ = shared.next_sequence();
  tries_ = 0;
  refusals_ = 0;
  send(shared);
}

void admission::send(core& shared) {
  ++tries_;
  next_try_ = shared.now + gap(shared);
  shared.datagram(life_->address).ask(sequence_, life_->name, life_->epoch);
}

/// From this try to the next one.
base::duration admission::gap(const core& shared) const noexcept {
  if (pace_ == pace::easy) return shared.ping_timeout() * tries_;
  constexpr std::int64_t parts = tries_max * (tries_max + 1) / 2;
  return patience(shared.settings.timing) * tries_ / parts;
}

bool admission::on_ack(std::uint64_t sequence, const sender& by) noexcept {
  if (!waiting() || sequence != sequence_ || by.name != life_->name || by.epoch != life_->epoch) {
    return false;
  }
  standing_ = standing::proved;
  return true;
}

void admission::on_refused(const endpoint& address) noexcept {
  if (waiting() && life_->address == address) ++refusals_;
}

void admission::advance(core& shared) {
  if (!waiting() || next_try_ > shared.now) return;
  const bool refused = tries_ >= refused_tries && refusals_ >= refusals_enough;
  if (refused || tries_ >= (pace_ == pace::soon ? tries_max : easy_tries_max))
    standing_ = standing::given_up;
  else
    send(shared);
}

base::time_point admission::next_deadline() const noexcept {
  return waiting() ? next_try_ : base::never;
}

bool admission::covers(const record& life) const noexcept {
  return standing_ == standing::proved && life_->name == life.name &&
         life_->address == life.address;
}

const char* admission::why() const noexcept {
  return refusals_ >= refusals_enough ? "nobody listens there by UDP"
                                      : "nobody there answers our pings by UDP for it";
}

}  // namespace lifering::swim
