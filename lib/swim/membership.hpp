// The rules of membership (SWIM 4.2, Lifeguard IV-B): what a claim changes, when a suspicion
// becomes a failure, and how a member contradicts claims about itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "swim/core.hpp"
#include "swim/suspicion.hpp"

namespace lifering::swim {

class membership {
 public:
  /// `probe_now` asks the prober to probe a suspect at once, out of its turn.
  /// `on_record` is told of each record that was accepted, and whether its name was unknown.
  /// `verify` is given each unknown life, and says whether it must prove itself first; `by_itself`
  /// if nobody vouches for it but the life itself.
  membership(core& shared, std::function<void(row_id)> probe_now,
             std::function<void(row_id, bool)> on_record,
             std::function<bool(const record_ptr&, bool by_itself)> verify);

  /// Takes in one claim that arrived as gossip. `from` is the member that passed it on, if known;
  /// `by_itself` says that it comes from the one whom it is about.
  void apply(const update& news, row_id from, bool by_itself);

  /// Takes in one row of a peer's whole view. Unlike gossip, a failure in it is second-hand: it is
  /// told to its subject, who contradicts it if it can, and not believed of a member that is
  /// present here. True if what is held here is newer, so that the peer should be told.
  bool merge(const view_row& theirs);

  /// The same of one who isn't proved itself: unknown lives are asked, not admitted.
  void merge_unvouched(const view_row& theirs);

  /// Admits a life that has proved that it lives where it says: it answered us there.
  void admit_proved(const record_ptr& life);

  /// A life that isn't held here: of an unknown name, newer than the one that is, or one that has
  /// failed and is at another address now.
  bool is_stranger(const record& life) const noexcept;
  /// Whether the news is of a life that isn't held here.
  bool introduces(const update& news) const noexcept;

  /// What a member's record must be like.
  bool can_be_member(const record& life) const noexcept;

  /// Large metadata that was pulled; dropped unless the member's record still wants it.
  void take_metadata(row_id id, std::uint64_t hash, const std::string& bytes);

  /// Our own probes of this member went unanswered, or its host said that nobody listens.
  void accuse(row_id subject, bool refused);

  /// The sender part of any packet: proof of life, and of which life.
  void heard_from(const sender& from, row_id id);

  /// Publishes a change of our own record, with a higher incarnation.
  void publish(record changed, gossip_class kind);

  /// We are told that our epoch is not new enough for `remembered`.
  void outgrow(std::uint64_t remembered);

  /// Starts a new life after a leave.
  void be_reborn();

  /// Our own row says that we left; queued as the most urgent news.
  void say_goodbye();

  /// Removes a failed member's grave here and everywhere. False if there is none.
  bool forget(std::string_view name);

  void advance();
  base::time_point next_deadline() const noexcept;
  /// The machine didn't run for a while: suspicions are due that much later.
  void after_stall(base::duration by);
  base::duration shortest_suspicion() const noexcept;
  /// Our own hold-down starts anew, if there is one: we are unwell.
  void relapse();
  std::size_t suspicions() const noexcept { return suspicions_.size(); }

 private:
  void apply_alive(const record_ptr& theirs);
  void apply_suspect(const update& news, row_id from);
  void apply_failed(const update& news, row_id from);
  void apply_left(const update& news);
  void apply_about_self(const update& news, row_id from);
  void merge_about_self(const view_row& theirs);
  void merge_unheld(const view_row& theirs, row_id id);
  void dig_grave(const view_row& theirs);
  void alive_about_self(const record& theirs);
  void grave_of_newer(const update& news);

  void admit(const record_ptr& theirs);
  void renew(row_id id, const record_ptr& theirs);
  void tell_of(row_id id, const record& before);
  void suspect(row_id id, std::uint64_t incarnation, const accuser& by);
  void examine(row_id id, const update& verdict);
  void spread_suspicion(row_id id, const accuser& by);
  void remind(row_id of, row_id about);
  void fail(row_id id, std::uint64_t incarnation, std::uint32_t witnesses, std::uint32_t failures);
  void refute(std::uint64_t accused_incarnation);
  void contradict_again(row_id to);
  std::uint32_t failures_with_this(row_id id) const;
  void stay_away(const update& verdict);
  void confirm_absence(row_id to);
  void look_after_hold();
  void come_back();
  record_ptr kept_form(const record_ptr& theirs, const record* before) const;
  void supersede(const record& newer);

  bool acceptable(const record& theirs) const noexcept;
  bool within_window(const record& theirs, row_id held) const noexcept;
  bool accuser_may(const update& news);
  std::size_t witnesses_needed(row_id subject) noexcept;
  void set_deadline(suspicion& s);
  void suspicion_due(suspicion& s);
  base::time_point last_look(const suspicion& s) const noexcept;
  bool isolated() const noexcept;
  void end_isolation(row_id heard);
  void ask_subject(row_id id, std::uint64_t incarnation);
  /// Somebody claims its end, and we look for ourselves.
  void ask_and_probe(row_id id, std::uint64_t incarnation) {
    ask_subject(id, incarnation);
    probe_now_(id);
  }
  /// What most have heard of by then.
  base::duration spread_time() const noexcept {
    return 2 * base::duration(shared_.settings.timing.gossip_interval);
  }
  void view_changed() noexcept { shared_.view_changed = shared_.now; }
  base::duration longest_suspicion() const noexcept;
  void expire_graves();

  core& shared_;
  std::function<void(row_id)> probe_now_;
  std::function<void(row_id, bool)> on_record_;
  std::function<bool(const record_ptr&, bool)> verify_;
  suspicion_set suspicions_;

  /// Suspicions that one accuser raised in the current period, to bound what a sick or hostile
  /// member can do.
  struct accusations {
    std::uint64_t accuser;
    unsigned count;
  };
  std::vector<accusations> accusations_;
  base::time_point accusations_until_;
  base::time_point graves_checked_;
  base::time_point refuted_{};  ///< When we last contradicted an accusation.
  bool told_isolated_ = false;
};

}  // namespace lifering::swim
