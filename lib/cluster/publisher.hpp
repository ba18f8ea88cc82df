// Publishes what one step of the protocol changed, whole and in the promised order: the ring, the
// members, the members' events, the ring's event, and then the completions of operations.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/strand.hpp>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <lifering/cluster.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/log.hpp"
#include "base/time.hpp"
#include "cluster/dispatcher.hpp"
#include "cluster/roster.hpp"

namespace lifering::cluster_detail {

/// An operation that has ended, and how.
struct finished {
  std::unique_ptr<operation> what;
  std::error_code error{};
  std::size_t count = 0;
  std::string why{};

  void tell() const { what->complete(error, count, why); }
};

/// What one step of the protocol did, or several that were published together.
struct batch {
  roster::list members;  ///< As they are after it.
  std::vector<member_change> changes;
  std::size_t ring_changes = 0;       ///< Changes that make another ring; 0: the same ring.
  std::vector<finished> completions;  ///< Told last, on the strand.
  bool urgent = false;                ///< Of our own doing: not to be gathered.
  std::error_code error{};            ///< Why the ring stayed as it was, if it did.

  bool can_wait() const noexcept { return !urgent && completions.empty(); }
};

/// How fast rings may follow each other, the time by which that is measured, and for how long one
/// may hold up the strand.
struct ring_pace {
  std::chrono::milliseconds gather{0};
  std::function<base::time_point()> now;

  /// Calls back on the strand when that time has come. Not asked again before.
  std::function<void(base::time_point, std::function<void()>)> call_at;

  /// A build that will take longer is done on a thread for it. Estimates are rough: what must stay
  /// below some bound is given a quarter of it.
  std::chrono::microseconds short_build{1000};
};

/// Readers on any thread, one writer on a strand.
///
/// A ring that is cheap to build is built on the strand. A longer build goes to a thread of its
/// own, made for the first one, so that the strand isn't held up. What arrives during a build is
/// gathered and becomes one publication after it; likewise changes of the ring that follow another
/// one too soon, with what follows them. Too soon is a matter of how long builds take, too:
/// hundreds that join on one machine would otherwise spend its time on each other's rings.
class publisher : public std::enable_shared_from_this<publisher> {
 public:
  using strand = asio::strand<asio::any_io_executor>;

  explicit publisher(placement_options placement);

  /// As disconnect(): on the builder's thread nothing refers to this object any more.
  ~publisher();

  // Readers.

  ring_view ring() const noexcept { return ring_.view(); }
  member_list members() const;
  std::optional<member> owner(std::string_view key) const;
  std::vector<member> owners(std::string_view key, std::size_t n) const;

  /// Waits until n members are present, or the time is up, or disconnect() was called.
  bool wait_for(std::size_t n, std::chrono::milliseconds timeout) const;

  struct counts {
    std::uint64_t publications = 0;
    std::uint64_t long_builds = 0;  ///< Done on the thread for them.
    std::uint64_t gathered = 0;     ///< Batches that were published together with others.
  };
  counts count() const;

  // The writer, on the strand.

  /// Where the writer's strand is, where events go, what is told of each new ring's fingerprint,
  /// how fast rings may follow each other, and where to log. Before the first batch.
  void bind(const strand& where, std::shared_ptr<dispatcher> events,
            std::function<void(std::uint64_t)> on_ring, ring_pace pace, base::logger log);

  /// Publishes, at once or soon.
  void submit(batch next);

  /// A join begins: what it brings piece by piece is gathered, until it completes or time is up.
  void expect_more();

  /// Publishes at once, however long that takes.
  void submit_now(batch next);

  /// Ends it after the last submit(): lets a build that is under way end, publishes what still
  /// waits, and calls back. Holds the strand up for none of that.
  void close(std::function<void()> closed);

  // Any thread.

  /// The strand's context may end after this: nobody waits any more, and the builder's thread has
  /// done its work and posts nothing. Waits for a build that is under way; one that waits for its
  /// turn is not made any more.
  void disconnect();

 private:
  bool is_long_build(const batch& next) const;
  bool has_builder();
  bool may_use_builder();
  void tell_strand(std::function<void()> what);
  void build_on_thread(batch next);
  static void build_queued(std::shared_ptr<publisher> self);
  bool tell_what_is_left();
  void after_build(std::function<void()> call);
  void publish(batch& next);
  std::optional<ring_event> publish_ring(batch& next);
  void conclude(batch& done);
  void on_built(batch& done);
  void be_quiet(base::duration after_build);
  base::time_point due() const;
  void start(batch next);
  void start_waiting();
  void start_when_due();

  hash_ring ring_;
  std::shared_ptr<dispatcher> events_;

  mutable std::mutex mutex_;  ///< Guards what follows.
  mutable std::condition_variable changed_;
  member_list members_;
  member_list incoming_;            ///< The next members_, while their ring is being built.
  std::optional<batch> queued_;     ///< Waits for the builder's turn.
  std::optional<batch> abandoned_;  ///< Did so when disconnect() came.
  unsigned builds_now_ = 0;  ///< What the builder's thread has to do, and to tell the strand of.
  bool disconnected_ = false;
  counts counts_;

  // On the strand.
  std::optional<strand> strand_;
  std::function<void(std::uint64_t)> on_ring_;
  base::logger log_;
  std::optional<asio::any_io_executor> builder_;
  bool building_ = false;  ///< From giving the builder work until that is concluded.
  std::optional<batch> waiting_;
  ring_pace pace_;
  base::time_point began_{};          ///< The last build.
  base::time_point quiet_until_{};    ///< No ring of others' making before this,
  base::time_point patient_until_{};  ///< and while they change it, before this.
  base::time_point changed_at_{};     ///< The last change of the ring came.
  bool called_ = false;               ///< pace_ will call back.
};

}  // namespace lifering::cluster_detail
