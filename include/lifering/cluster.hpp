// The cluster: this process as a member, the others it knows, and who owns which key.
//
//     lifering::cluster cluster(options);
//     cluster.on_event([](const lifering::event& event) { ... });
//     cluster.start();
//     cluster.join({"10.0.0.1:7946", "10.0.0.2:7946"});
//     if (!cluster.owns(key)) forward_to(cluster.owner(key)->service);
//
// There are two ways to run it. By default the object has threads of its own, one for the protocol
// and one for your callbacks, and you need not know Asio. Given an executor, such as that of your
// own io_context, everything runs there, and no other thread is made but one that builds large
// rings when such a build would hold your loop up for more than a millisecond.
//
// Waiting calls (join, leave, forget, wait_for) have asynchronous twins where a completion is
// wanted; `async_join` and `async_leave` take any completion token: a callback, asio::use_future,
// asio::use_awaitable.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <lifering/config.hpp>
#include <lifering/error.hpp>
#include <lifering/event.hpp>
#include <lifering/member.hpp>
#include <lifering/options.hpp>
#include <lifering/ring.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace lifering {

namespace cluster_detail {
class core;
class operation;
using member_pointers = std::vector<std::shared_ptr<const member>>;
}  // namespace cluster_detail

/// All present members at one moment, sorted by name (unsigned bytes): an immutable snapshot that
/// no later change touches. A range of `const member&`. Cheap to copy; safe from any thread.
class LIFERING_API member_list {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = member;
    using difference_type = std::ptrdiff_t;
    using pointer = const member*;
    using reference = const member&;

    iterator() = default;
    reference operator*() const noexcept { return **at_; }
    pointer operator->() const noexcept { return at_->get(); }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    iterator operator++(int) noexcept { return iterator(at_++); }
    friend bool operator==(iterator, iterator) = default;

   private:
    friend class member_list;
    explicit iterator(const std::shared_ptr<const member>* at) noexcept : at_(at) {}
    const std::shared_ptr<const member>* at_ = nullptr;
  };

  /// No members.
  member_list();
  explicit member_list(std::shared_ptr<const cluster_detail::member_pointers> members) noexcept;

  iterator begin() const noexcept { return iterator(members_->data()); }
  iterator end() const noexcept { return iterator(members_->data() + members_->size()); }
  std::size_t size() const noexcept { return members_->size(); }
  bool empty() const noexcept { return members_->empty(); }
  const member& operator[](std::size_t index) const noexcept { return *(*members_)[index]; }

  /// The member of that name, or null. Lives as long as this list. Logarithmic.
  const member* find(std::string_view name) const noexcept;

 private:
  std::shared_ptr<const cluster_detail::member_pointers> members_;  ///< Never null.
};

/// What is wrong with the text of a seed, in one sentence, or nothing. join() checks its seeds so;
/// for programs that want to know before they start. Looks nothing up.
LIFERING_API std::optional<problem> validate_seed(std::string_view text);

/// One number that the library keeps about itself.
struct metric {
  std::string_view name;    ///< "datagrams_sent", "dropped"; static storage.
  std::string_view reason;  ///< Why, for names that several share ("wrong_cluster"), else empty.
  std::string_view help;    ///< One sentence.
  bool counter = true;      ///< Only grows while the object lives; else a gauge.
  std::uint64_t value = 0;
};

/// Metrics in Prometheus' text exposition format, version 0.0.4, each name with `lifering_` before
/// it. Needs no server: hand the text to the one that you have. `labels` go into every line, as
/// `cluster="shop",zone="a"`, already escaped; may be empty.
LIFERING_API std::string to_prometheus(std::span<const metric> metrics,
                                       std::string_view labels = {});

/// Whether the peers place keys as we do.
struct ring_agreement {
  std::size_t agreeing = 0;   ///< Peers lately heard from whose ring has our fingerprint.
  std::size_t differing = 0;  ///< The others of those lately heard from.

  /// For how long none has differed; nothing while one does.
  std::optional<std::chrono::milliseconds> agreed_for;
};

/// A member of a cluster.
///
/// Thread safety: every function may be called from any thread, also from inside an event handler
/// or a completion, except for on_event() and start(), which come first, and the destructor.
/// Waiting calls are refused with errc::would_deadlock on a thread that runs the executor given to
/// the constructor, since they would wait for themselves. On the library's own threads they work.
///
/// Event handlers are called one at a time, in the order of lifering/event.hpp's promises, and
/// never under a lock. With the library's own threads that is on the thread "lifering-events"; with
/// your executor, on a strand of it. One that is slow holds up later events, not the membership:
/// when `limits.event_queue` are waiting, events of one member are merged. What it throws is
/// caught, logged and counted.
///
/// The library blocks no signal of yours and handles none: its threads run with all signals
/// blocked. It must not be used in a child after fork(): the child has no copy of its threads. A
/// child may only exec or _exit.
class LIFERING_API cluster {
 public:
  using event_handler = std::function<void(const event&)>;
  using milliseconds = std::chrono::milliseconds;

  /// How long join() and leave() wait unless told otherwise.
  static constexpr milliseconds default_timeout{10000};

  /// A member that runs on threads of its own. Throws std::system_error with the sentence of
  /// `options.validate()` if that finds something. Opens nothing yet.
  explicit cluster(lifering::options options);

  /// A member that runs on this executor, which must keep running until stop() has returned or the
  /// object is gone. Several threads may run it. Otherwise as above.
  cluster(asio::any_io_executor executor, lifering::options options);
  cluster(asio::io_context& context, lifering::options options)
      : cluster(asio::any_io_executor(context.get_executor()), std::move(options)) {}

  /// Stops without leaving: to others this looks like a crash. When it returns, no handler runs or
  /// will run. On the library's own threads that is stop(); on your executor it waits only for a
  /// handler that is being called right now on another thread and for a long ring build that is
  /// under way, and what is still pending inside ends with the next turns of the executor, or with
  /// its context.
  ///
  /// May happen inside a handler or completion of this very object.
  ~cluster();

  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  // Before the start.

  /// Who is told of events. Once, before start(); later calls are ignored.
  void on_event(event_handler handler);

  /// Opens the port, UDP and TCP, and begins to answer: a cluster of one. Doesn't wait. For a bind
  /// to 0.0.0.0 or [::], `towards` may name a seed by its address, and the route to it chooses the
  /// address that others are told.
  ///
  /// Errors: address_in_use and invalid_address, after which nothing is open and it may be tried
  /// again; already_started; stopped.
  void start(std::string_view towards = {});
  void start(std::error_code& error, std::string_view towards = {});

  /// The same; says what is wrong in one sentence that names the value, or nothing.
  std::optional<problem> try_start(std::string_view towards = {});

  // Joining and leaving.

  /// Contacts all seeds at once and returns as soon as one of them has exchanged its view with
  /// ours; then members() and ring() show it. A seed is `HOST:PORT`, `HOST`, an address or
  /// `[IPV6]:PORT`; the port defaults to 7946. Our own address among them is ignored, so all
  /// members may be given the same list. Returns how many seeds have answered.
  ///
  /// Errors: invalid_seed, after which nothing was contacted; no_seed_answered, after which the
  /// member serves alone and goes on trying by itself, for ever; wrong_cluster, wrong_version,
  /// wrong_placement, name_in_use and too_many_members if the seeds refused; canceled; not_started;
  /// stopped; would_deadlock.
  std::size_t join(std::vector<std::string> seeds, milliseconds timeout = default_timeout);
  std::size_t join(std::vector<std::string> seeds, std::error_code& error,
                   milliseconds timeout = default_timeout);

  /// The same, asynchronously. Returns at once; the completion has the signature
  /// `void(std::error_code, std::size_t seeds)` and is posted to its associated executor, or to
  /// get_executor() if it has none, never called from within this function. Supports cancellation
  /// through the handler's cancellation slot, of every type: it then completes with
  /// errc::canceled. The object must live until the operation has begun, which for use_awaitable
  /// is when it is awaited; destroyed later, it completes with errc::canceled.
  template <class CompletionToken>
  auto async_join(std::vector<std::string> seeds, milliseconds timeout, CompletionToken&& token) {
    return asio::async_initiate<CompletionToken, void(std::error_code, std::size_t)>(
        join_initiation{this}, token, std::move(seeds), timeout);
  }
  template <class CompletionToken>
  auto async_join(std::vector<std::string> seeds, CompletionToken&& token) {
    return async_join(std::move(seeds), default_timeout, std::forward<CompletionToken>(token));
  }

  /// Says goodbye and waits until enough peers have acknowledged it: they report us as left, not as
  /// failed, and take over our keys. Returns how many acknowledged, 0 for a cluster of one. From
  /// its beginning on we own nothing. Afterwards the port stays open, and members() and ring() show
  /// the others as last known, no longer kept up; join() begins another life of the same name.
  ///
  /// Errors: timed_out, after which we have left, but not enough peers said that they know;
  /// canceled; not_started; stopped; would_deadlock.
  std::size_t leave(milliseconds timeout = default_timeout);
  std::size_t leave(std::error_code& error, milliseconds timeout = default_timeout);

  /// The same, asynchronously; see async_join(). The number is that of peers.
  template <class CompletionToken>
  auto async_leave(milliseconds timeout, CompletionToken&& token) {
    return asio::async_initiate<CompletionToken, void(std::error_code, std::size_t)>(
        leave_initiation{this}, token, timeout);
  }
  template <class CompletionToken>
  auto async_leave(CompletionToken&& token) {
    return async_leave(default_timeout, std::forward<CompletionToken>(token));
  }

  /// Ends everything without leaving: pending operations complete with errc::canceled, the port is
  /// closed. Returns when all is done, however often it is called and from however many threads;
  /// with the library's own threads the events before it have then been delivered. Inside a handler
  /// or completion it doesn't wait for that; on a thread that runs the given executor it waits for
  /// nothing; elsewhere somebody must run that executor meanwhile. members() and ring() keep
  /// answering with the last view.
  void stop();

  // What is known. These never wait for the network.

  /// The ring, pinned for the moment: the way to look up keys on the path of a request. Takes a few
  /// nanoseconds, no lock, no allocation; see lifering/ring.hpp. Let go of it before the cluster
  /// object is destroyed.
  ring_view ring() const noexcept;

  /// Who is here: all present members, ourselves included. Takes a mutex for the time of copying a
  /// pointer.
  member_list members() const;

  /// The member of that name if it is present.
  std::optional<member> find(std::string_view name) const;

  /// Ourselves, as others are told. Before start(), what the options say.
  member self() const;

  /// The owner of a key with its addresses, or nothing for an empty key or when nobody owns keys.
  /// Copies the member, some 200 ns; where the name is enough, ask ring().
  std::optional<member> owner(std::string_view key) const;

  /// The first n members of the key's preference order; see ring_table::owners().
  std::vector<member> owners(std::string_view key, std::size_t n) const;

  /// Whether the key is ours. No lock, no allocation.
  bool owns(std::string_view key) const noexcept;

  /// Waits until at least n members are present, ourselves included; false if they are not when the
  /// time is up or the object is stopped. Throws std::system_error with errc::would_deadlock.
  bool wait_for(std::size_t n, milliseconds timeout) const;
  bool wait_for(std::size_t n, milliseconds timeout, std::error_code& error) const;

  /// Whether peers place keys as we do; at most a second old.
  ring_agreement agreement() const;

  /// Every counter and gauge; those of the protocol are at most a second old.
  std::vector<metric> stats() const;

  // What others are told of us. These return at once; an `updated` event says that it is so. Before
  // start() they fail with not_started, after stop() with stopped.

  /// Replaces our metadata. metadata_too_large over `limits.metadata`, or if our record would no
  /// longer fit into a datagram.
  void set_metadata(std::string metadata);
  void set_metadata(std::string metadata, std::error_code& error);

  /// Changes our share of the ring; moves keys only to us or from us.
  void set_weight(lifering::weight value);
  void set_weight(lifering::weight value, std::error_code& error);

  /// From `joining` or `draining` to `serving`: we take our share of the keys.
  void ready();
  void ready(std::error_code& error);

  /// To `draining`: we stay a member and give our keys away, as before a planned stop.
  void drain();
  void drain(std::error_code& error);

  /// Takes a failed member for left, here and everywhere: nobody looks for it any more. Waits until
  /// our own view shows it. Errors: unknown_member, also for one that is present or has left;
  /// would_deadlock; not_started; stopped.
  void forget(std::string_view name);
  void forget(std::string_view name, std::error_code& error);

  // The rest.

  /// Where event handlers run, and completions by default. With the library's own threads not to be
  /// used beyond the life of this object.
  asio::any_io_executor get_executor() const noexcept;

  /// The address that the port is open at. After start().
  endpoint local_address() const;

 private:
  using operation_ptr = std::unique_ptr<cluster_detail::operation>;

  struct join_initiation {
    cluster* self;
    asio::any_io_executor get_executor() const noexcept { return self->get_executor(); }
    template <class Handler>
    void operator()(Handler&& handler, std::vector<std::string> seeds, milliseconds timeout) const;
  };
  struct leave_initiation {
    cluster* self;
    asio::any_io_executor get_executor() const noexcept { return self->get_executor(); }
    template <class Handler>
    void operator()(Handler&& handler, milliseconds timeout) const;
  };

  void start_join(std::vector<std::string> seeds, milliseconds timeout, operation_ptr done);
  void start_leave(milliseconds timeout, operation_ptr done);

  std::shared_ptr<cluster_detail::core> core_;
};

// From here on: how a completion handler of any type is handed to the compiled part.

namespace cluster_detail {

/// A pending operation's end, whatever waits for it.
class LIFERING_API operation {
 public:
  virtual ~operation() = default;

  /// Called once, from any thread; doesn't call the application from within. `why` is for people.
  virtual void complete(std::error_code error, std::size_t count, const std::string& why) = 0;

  /// Called once, when the operation begins: `cancel` may be called from any thread until the
  /// completion, and later does nothing.
  virtual void on_cancel(std::function<void()> cancel) = 0;
};

/// A completion handler on its way to its executor.
template <class Handler>
struct posted_completion {
  using allocator_type = asio::associated_allocator_t<Handler>;
  allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }

  void operator()() {
    asio::get_associated_cancellation_slot(handler).clear();
    std::move(handler)(error, count);
  }

  Handler handler;
  std::error_code error;
  std::size_t count;
};

template <class Handler>
class handler_operation final : public operation {
 public:
  handler_operation(Handler handler, const asio::any_io_executor& fallback)
      : handler_(std::move(handler)), work_(asio::make_work_guard(handler_, fallback)) {}

  void complete(std::error_code error, std::size_t count, const std::string&) override {
    asio::post(work_.get_executor(), posted_completion<Handler>{std::move(handler_), error, count});
    work_.reset();
  }

  void on_cancel(std::function<void()> cancel) override {
    auto slot = asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) {
      slot.assign([cancel = std::move(cancel)](asio::cancellation_type) { cancel(); });
    }
  }

 private:
  Handler handler_;
  asio::executor_work_guard<asio::associated_executor_t<Handler, asio::any_io_executor>> work_;
};

template <class Handler>
std::unique_ptr<operation> make_operation(Handler&& handler,
                                          const asio::any_io_executor& fallback) {
  return std::make_unique<handler_operation<std::decay_t<Handler>>>(std::forward<Handler>(handler),
                                                                    fallback);
}

}  // namespace cluster_detail

template <class Handler>
void cluster::join_initiation::operator()(Handler&& handler, std::vector<std::string> seeds,
                                          milliseconds timeout) const {
  self->start_join(std::move(seeds), timeout,
                   cluster_detail::make_operation(std::forward<Handler>(handler), get_executor()));
}

template <class Handler>
void cluster::leave_initiation::operator()(Handler&& handler, milliseconds timeout) const {
  self->start_leave(timeout,
                    cluster_detail::make_operation(std::forward<Handler>(handler), get_executor()));
}

}  // namespace lifering
