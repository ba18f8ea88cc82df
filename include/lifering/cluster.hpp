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
// own io_context, everything runs there, and no other thread is made but one for each context,
// which builds rings when such a build might hold your loop up for a millisecond; with `slots`,
// that is from the second member on.
//
// Waiting calls (join, leave, forget, send_reliably) have asynchronous twins (`async_join`, ...)
// that take any completion token: a callback, asio::use_future, asio::use_awaitable.
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
#include <cstddef>
#include <cstdint>
#include <functional>
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
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace lifering {

namespace cluster_detail {
class core;
class operation;
}  // namespace cluster_detail

/// What is wrong with the text of a seed, in one sentence, or nothing. join() checks its seeds so;
/// for programs that want to know before they start. Looks nothing up.
LIFERING_API std::optional<problem> validate_seed(std::string_view text);

/// One number that the library keeps about itself.
struct metric {
  /// "datagrams_sent", "dropped"; static storage. Times end with "_microseconds".
  std::string_view name;
  /// Why, or what about, for names that several share ("wrong_cluster"), else empty.
  std::string_view reason;
  std::string_view help;  ///< One sentence.
  bool counter = true;    ///< Only grows while the object lives; else a gauge.
  std::uint64_t value = 0;
};

/// Metrics in Prometheus' text exposition format, version 0.0.4, each name with `lifering_` before
/// it and times in seconds, as the format wants them. Needs no server: hand the text to the one
/// that you have. `labels` go into every line, as `cluster="shop",zone="a"`, already escaped; may
/// be empty.
LIFERING_API std::string to_prometheus(std::span<const metric> metrics,
                                       std::string_view labels = {});

/// Whether the peers place keys as we do: every packet carries its sender's ring fingerprint.
struct ring_agreement {
  std::uint64_t fingerprint = 0;  ///< Ours, which the peers' were compared with.

  /// Peers whose last packet had that fingerprint, or another one. Only packets count that came
  /// within the last 20 probe intervals and after our own last change.
  std::size_t agreeing = 0;
  std::size_t differing = 0;
  std::size_t unheard = 0;  ///< The other present members but ourselves.

  /// For how long no packet has differed and our own ring has been the same; nothing while a peer
  /// differs. The whole cluster agrees when `unheard` is 0 besides.
  std::optional<std::chrono::milliseconds> agreed_for;
};

/// A member of a cluster.
///
/// Thread safety: every function may be called from any thread, also from inside a handler, the
/// health check or a completion, except for on_event(), on_message() and start(), which come first,
/// and the destructor. Waiting calls are refused with errc::would_deadlock on a thread that runs
/// the executor given to the constructor, since they would wait for themselves. On the library's
/// own threads they work.
///
/// Handlers of events and messages and the health check are called one at a time, events in the
/// order of lifering/event.hpp's promises, and never under a lock. With the library's own threads
/// that is on the thread "lifering-events"; with your executor, on a strand of it. One that is slow
/// holds up later calls, not the membership: when `limits.event_queue` are waiting, events of one
/// member are merged, and `limits.message_queue` bounds messages. What they throw is caught, logged
/// and counted.
///
/// The library blocks no signal of yours and handles none: its threads run with all signals
/// blocked. It must not be used in a child after fork(): the child has no copy of its threads. A
/// child may only exec or _exit; what it executes inherits no socket of ours that was made before.
class LIFERING_API cluster {
 public:
  using event_handler = std::function<void(const event&)>;
  using message_handler = std::function<void(const message&)>;
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
  /// handler that is being called right now on another thread and for a long ring build of its own
  /// that is under way, and what is still pending inside ends with the next turns of the executor,
  /// or with its context.
  ///
  /// May happen inside a handler or completion of this very object.
  ~cluster();

  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  // Before the start.

  /// Who is told of events. Once, before start(); later calls are ignored.
  void on_event(event_handler handler);

  /// Who is given messages of other members. Once, before start(). Without one, messages are
  /// dropped and reliable ones refused.
  void on_message(message_handler handler);

  /// Opens the port, UDP and TCP, and begins to answer: a cluster of one. Doesn't wait, but for
  /// the system to look up a host name in `options::advertise`, which nothing bounds. For a bind
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

  /// Contacts all seeds, up to 32 and half of `limits.streams` at once, and returns as soon as one
  /// of them has exchanged its view with ours; then members() and ring() show it. A seed is
  /// `HOST:PORT`, `HOST`, an address or
  /// `[IPV6]:PORT`; the port defaults to 7946. `srv:NAME`, and a name such as
  /// `_lifering._udp.example.com`, stands for the hosts and ports of its SRV records. Our own
  /// address among them is ignored, so all members may be given the same list. Returns how many
  /// seeds have answered.
  ///
  /// Errors: invalid_seed, after which nothing was contacted; no_seed_answered, when all have failed
  /// or time is up, after which the member serves alone and goes on trying by itself, for ever;
  /// wrong_cluster, wrong_version, wrong_placement, wrong_key, name_in_use, too_many_members and
  /// invalid_address (none of them reaches us where we say that we are) if the seeds refused, after
  /// which it tries on likewise; canceled; not_started; stopped; would_deadlock.
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
    return initiate<void(std::error_code, std::size_t), CompletionToken>(
        [seeds = std::move(seeds), timeout](cluster& self, operation_ptr done) mutable {
          self.start_join(std::move(seeds), timeout, std::move(done));
        },
        token);
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
    return initiate<void(std::error_code, std::size_t), CompletionToken>(
        [timeout](cluster& self, operation_ptr done) {
          self.start_leave(timeout, std::move(done));
        },
        token);
  }
  template <class CompletionToken>
  auto async_leave(CompletionToken&& token) {
    return async_leave(default_timeout, std::forward<CompletionToken>(token));
  }

  /// Ends everything without leaving: pending operations complete with errc::canceled, the port is
  /// closed. Returns when all is done, however often it is called and from however many threads;
  /// with the library's own threads the events and messages before it have then been delivered.
  /// Inside a handler or completion it doesn't wait for that; on a thread that runs the given
  /// executor it waits for nothing; elsewhere it waits for the executor to do the work, and gives
  /// up when that has made no turn for two seconds: nobody runs it, and what is pending ends with
  /// its next turns or with its context. members() and ring() keep answering with the last view.
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

  /// The failed and left members that are remembered, sorted by name: those that `limits.graves`
  /// and `protocol.grave_time` leave. Failed ones are still looked for, unless they are forgotten.
  /// At most a second old.
  std::vector<member> graves() const;

  /// Whether peers place keys as we do; at most a second old.
  ring_agreement agreement() const;

  /// Every counter and gauge; those of the protocol are at most a second old.
  ///
  /// Why input was dropped: of strangers `not_ours`, `wrong_cluster`, `not_allowed`; broken
  /// `malformed`, `over_limit`, `too_large` (more than `limits.datagram`); of members that are set
  /// up otherwise `wrong_version`, `wrong_placement`, `not_sealed`, `cannot_open`; said before or
  /// too late `repeated`, `unknown_sequence`, `not_for_us` (an earlier life of ours); of lives that
  /// have not shown that they live `unproven` (no echo yet, under the seal; a few at each start)
  /// and `unanswered` (unknown ones that are silent when pinged); claims that no member makes
  /// `from_self`, `bad_sender`, `bad_accuser`, `bad_record`, `beyond_window`; beyond a bound
  /// `accuser_limit`, `member_limit`, `stream_limit`, `no_room`; on streams `unexpected_frame`.
  std::vector<metric> stats() const;

  // What others are told of us. These return at once; an `updated` event says that it is so. Before
  // start() they fail with not_started, after stop() with stopped. After a leave they are kept for
  // the life that the next join begins.

  /// Replaces our metadata. metadata_too_large over `limits.metadata`, or if our record would no
  /// longer fit into a datagram.
  void set_metadata(std::string metadata);
  void set_metadata(std::string metadata, std::error_code& error);

  /// Replaces our service address. service_too_long over 255 bytes, or if our record would no
  /// longer fit into a datagram.
  void set_service(std::string service);
  void set_service(std::string service, std::error_code& error);

  /// Changes our share of the ring; moves keys only to us or from us. 0 makes us an observer, which
  /// is a member like others and owns nothing.
  void set_weight(lifering::weight value);
  void set_weight(lifering::weight value, std::error_code& error);

  /// From `joining` or `draining` to `serving`: we take our share of the keys.
  void ready();
  void ready(std::error_code& error);

  /// To `draining`: we stay a member, answer, and give our keys away, as before a planned stop.
  void drain();
  void drain(std::error_code& error);

  /// Whether the application can serve; see health_options, whose times decide when a bad word
  /// takes our keys away and when a good one gives them back. May be called as often as you like;
  /// the last word counts, whether said here or by the check. What ready() and drain() asked for
  /// stays asked for.
  void set_health(bool good);
  void set_health(bool good, std::error_code& error);

  // Messages to the applications of other members. Up to a megabyte; for bulk use connections of
  // your own. On every way the payload may be empty and holds any bytes.
  //
  // Errors: unknown_member, also for ourselves; message_too_large, whose sentence says how many
  // bytes would fit; not_started; stopped, also after a leave.

  /// Best-effort to one member, in one datagram: about `limits.datagram` less 100 bytes and our
  /// name. It may be lost, or come twice. Returns at once.
  void send(std::string_view to, std::string payload);
  void send(std::string_view to, std::string payload, std::error_code& error);

  /// Best-effort to all other members: it rides on gossip, and who missed it asks for it. In a
  /// cluster without partition each live member that was there is given it once, within a second or
  /// so. About `limits.datagram` less 400 bytes and our name. Gossip is for little: some ten a
  /// second in the whole cluster; of a burst of more than 64 the first may be lost. Returns at
  /// once.
  void broadcast(std::string payload);
  void broadcast(std::string payload, std::error_code& error);

  /// To one member over a stream, up to 1 MiB; waits until the member has it in the queue of its
  /// application. On any error it may have come there all the same; it never comes twice. Further
  /// errors: busy if too many streams are open here or its application is behind (try again later);
  /// unreachable; timed_out after `protocol.stream_timeout`; canceled; would_deadlock.
  void send_reliably(std::string_view to, std::string payload);
  void send_reliably(std::string_view to, std::string payload, std::error_code& error);

  /// The same, asynchronously, with the signature `void(std::error_code)`; see async_join().
  template <class CompletionToken>
  auto async_send_reliably(std::string to, std::string payload, CompletionToken&& token) {
    return initiate<void(std::error_code), CompletionToken>(
        [to = std::move(to), payload = std::move(payload)](cluster& self,
                                                           operation_ptr done) mutable {
          self.start_send(std::move(to), std::move(payload), std::move(done));
        },
        token);
  }

  /// Takes a failed member for left, here and everywhere: nobody looks for it any more. Waits until
  /// our own view shows it. Errors: unknown_member, also for one that is present or has left;
  /// would_deadlock; not_started; stopped.
  void forget(std::string_view name);
  void forget(std::string_view name, std::error_code& error);

  /// The same, asynchronously, with the signature `void(std::error_code)`; see async_join().
  template <class CompletionToken>
  auto async_forget(std::string name, CompletionToken&& token) {
    return initiate<void(std::error_code), CompletionToken>(
        [name = std::move(name)](cluster& self, operation_ptr done) mutable {
          self.start_forget(std::move(name), std::move(done));
        },
        token);
  }

  // The rest.

  /// Where event handlers run, and completions by default. With the library's own threads not to be
  /// used beyond the life of this object.
  asio::any_io_executor get_executor() const noexcept;

  /// The address that the port is open at. After start().
  endpoint local_address() const;

 private:
  using operation_ptr = std::unique_ptr<cluster_detail::operation>;

  /// Begins an operation whose completion has that signature.
  template <class Signature>
  struct initiation {
    cluster* self;
    asio::any_io_executor get_executor() const noexcept { return self->get_executor(); }
    template <class Handler, class Begin>
    void operator()(Handler&& handler, Begin begin) const;
  };
  template <class Signature, class CompletionToken, class Begin>
  auto initiate(Begin begin, std::remove_reference_t<CompletionToken>& token) {
    return asio::async_initiate<CompletionToken, Signature>(initiation<Signature>{this}, token,
                                                            std::move(begin));
  }

  void start_join(std::vector<std::string> seeds, milliseconds timeout, operation_ptr done);
  void start_leave(milliseconds timeout, operation_ptr done);
  void start_send(std::string to, std::string payload, operation_ptr done);
  void start_forget(std::string name, operation_ptr done);

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
template <class Handler, class... Results>
struct posted_completion {
  using allocator_type = asio::associated_allocator_t<Handler>;
  allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }

  void operator()() {
    asio::get_associated_cancellation_slot(handler).clear();
    std::apply(std::move(handler), results);
  }

  Handler handler;
  std::tuple<Results...> results;
};

template <class Signature, class Handler>
class handler_operation final : public operation {
 public:
  handler_operation(Handler handler, const asio::any_io_executor& fallback)
      : handler_(std::move(handler)), work_(asio::make_work_guard(handler_, fallback)) {}

  void complete(std::error_code error, std::size_t count, const std::string&) override {
    if constexpr (std::is_same_v<Signature, void(std::error_code)>) {
      post(error);
    } else {
      post(error, count);
    }
    work_.reset();
  }

  void on_cancel(std::function<void()> cancel) override {
    auto slot = asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) {
      slot.assign([cancel = std::move(cancel)](asio::cancellation_type) { cancel(); });
    }
  }

 private:
  template <class... Results>
  void post(Results... results) {
    asio::post(work_.get_executor(),
               posted_completion<Handler, Results...>{std::move(handler_), {results...}});
  }

  Handler handler_;
  asio::executor_work_guard<asio::associated_executor_t<Handler, asio::any_io_executor>> work_;
};

}  // namespace cluster_detail

template <class Signature>
template <class Handler, class Begin>
void cluster::initiation<Signature>::operator()(Handler&& handler, Begin begin) const {
  using made = cluster_detail::handler_operation<Signature, std::decay_t<Handler>>;
  begin(*self, std::make_unique<made>(std::forward<Handler>(handler), get_executor()));
}

}  // namespace lifering
