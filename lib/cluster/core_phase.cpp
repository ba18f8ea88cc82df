// What others are told of how we stand: what the application asked for, its health, and the pace at
// which rings follow each other. On the strand, but for set_phase() and set_health().
#include <asio/post.hpp>
#include <utility>

#include "cluster/core.hpp"
#include "cluster/steady.hpp"

namespace lifering::cluster_detail {

std::error_code core::set_phase(member_phase wanted) {
  const auto error = unavailable();
  if (error) return error;
  asio::post(*strand_, [self = shared_from_this(), wanted] {
    if (self->unavailable()) return;
    self->wanted_phase_ = wanted;
    self->sync_phase();
  });
  return {};
}

std::error_code core::set_health(bool good) {
  const auto error = unavailable();
  if (error) return error;
  asio::post(*strand_, [self = shared_from_this(), good] { self->hear_health(good); });
  return {};
}

/// Brings our record in line with what is wanted and how we fare.
void core::sync_phase() {
  const bool gives_away = wanted_phase_ == member_phase::serving && health_.sick();
  const auto told = gives_away ? member_phase::draining : wanted_phase_;
  if (driver_->protocol().self()->phase == told) return;
  swim::update_command change{};
  change.id = swim::command_id{next_command_++};
  change.phase = told;
  driver_->command(change);
  sync_self();
}

// --- Health ---

void core::hear_health(bool good) {
  if (unavailable()) return;
  health_.report(good, steady_now());
  advance_health();
}

void core::advance_health() {
  if (health_.advance(steady_now())) {
    log_(log_level::warning,
         health_.sick() ? "The application says that it can't serve; its keys are given away."
                        : "The application says that it serves again; it takes its keys back.");
    sync_phase();
    refresh();
  }
  timers_->health.cancel();
  const auto deadline = health_.next_deadline();
  if (deadline == base::never) return;
  timers_->health.expires_at(steady_time(deadline));
  timers_->health.async_wait([weak = weak_from_this()](std::error_code error) {
    const auto self = weak.lock();
    if (!error && self && !self->unavailable()) self->advance_health();
  });
}

void core::check_health_after(std::chrono::milliseconds pause) {
  timers_->check.expires_after(pause);
  timers_->check.async_wait([weak = weak_from_this()](std::error_code error) {
    const auto self = weak.lock();
    if (error || !self || self->unavailable()) return;
    self->dispatcher_->invoke([weak] {
      const auto held = weak.lock();
      if (!held || held->unavailable()) return;
      asio::post(*held->strand_, [held] { held->begin_check(); });
      bool good = false;
      try {
        good = held->options_.health.check();
      } catch (...) {
        held->dispatcher_->complain(std::current_exception());
      }
      if (!held->unavailable()) asio::post(*held->strand_, [held, good] { held->end_check(good); });
    });
  });
}

/// From now on it has `interval` to answer.
void core::begin_check() {
  if (unavailable()) return;
  timers_->check.expires_after(options_.health.interval);
  // What is queued already can't be recalled, so it looks whether its check is still the one.
  timers_->check.async_wait([weak = weak_from_this(), turn = ++check_turn_](std::error_code error) {
    const auto self = weak.lock();
    if (!error && self && turn == self->check_turn_) self->hear_health(false);
  });
}

void core::end_check(bool good) {
  if (unavailable()) return;
  ++check_turn_;
  hear_health(good);
  check_health_after(options_.health.interval);
}

// --- The pace of rings ---

ring_pace core::make_pace() {
  // The application's loop is held up by no build that might take a millisecond. On a thread of our
  // own a build of that length delays nobody, and spares most members the thread for longer ones.
  constexpr std::chrono::microseconds on_own_thread{1000};
  constexpr std::chrono::microseconds on_given_executor{250};
  return {options_.ring_gather, [] { return steady_now(); },
          [weak = weak_from_this()](base::time_point when, std::function<void()> call) {
            const auto self = weak.lock();
            if (!self) return;
            self->timers_->ring.expires_at(steady_time(when));
            self->timers_->ring.async_wait([weak, call = std::move(call)](std::error_code error) {
              const auto held = weak.lock();
              if (!error && held && !held->unavailable()) call();
            });
          },
          has_own_threads() ? on_own_thread : on_given_executor};
}

}  // namespace lifering::cluster_detail
