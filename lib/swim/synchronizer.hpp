// Everything on streams: exchanging whole views (join, anti-entropy, healing), probing where
// datagrams don't get through, and reliable messages.
//
// An exchange: the one who opened the stream sends `sync_request` and its rows, the other answers
// `sync_reply` and its rows; whoever opened it closes it. A fresh member that learns from the reply
// that an older life of its name is remembered starts above it and sends its own row once more
// before it closes.
//
// A life that isn't held here is admitted once it has answered a ping at the address that it
// advertises, be it who opened the stream or who answers it; the exchange waits for that, as a
// rule for one round trip. So whoever is told that it has joined is one whom others can reach.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "swim/admission.hpp"
#include "swim/core.hpp"
#include "swim/membership.hpp"

namespace lifering::swim {

class prober;

/// How what we opened a stream for ended.
struct stream_outcome {
  std::error_code error{};
  std::string detail{};        ///< For people: why.
  bool met_ourselves = false;  ///< It led back to us, so `error` is no word of anybody else.
  std::string metadata{};      ///< What was pulled.
};

class synchronizer {
 public:
  using finished = std::function<void(const stream_outcome& how)>;

  synchronizer(core& shared, membership& members);

  void set_prober(prober& probes) noexcept { prober_ = &probes; }

  /// Opens a stream and exchanges views. False if too many are open.
  bool exchange(const endpoint& with, bool join, finished done);

  /// Probes a member by stream for the prober.
  void probe(row_id id, std::uint64_t sequence);

  /// Sends bytes reliably; `done` once they were acknowledged.
  bool deliver(const record& to, const std::string& payload, finished done);

  /// Pulls a member's large metadata from somebody.
  bool fetch(const endpoint& from, const metadata_pull& what, finished done);

  void on_accepted(stream_id stream, const endpoint& from);
  void on_frame(stream_id stream, const packet& content);
  void on_ended(stream_id stream, std::error_code error);

  // Of who isn't admitted yet.

  /// An ack that none of our probes waits for. True if it proves somebody here.
  bool on_ack(std::uint64_t sequence, const sender& by);
  void on_refused(const endpoint& address) noexcept;
  /// A stranger at that address has pinged us, and gets our answer there.
  void on_call(const endpoint& from, const sender& by);
  /// A record was accepted.
  void on_held(row_id id) noexcept;
  /// Whether this life is being asked, where it says that it is, on account of a stream.
  bool asks(const record& life) const noexcept;
  bool asks_at(const endpoint& address) const noexcept;

  void advance();
  base::time_point next_deadline() const noexcept;
  /// Goes on with the exchanges that waited for what is decided by now. After every input, since
  /// it closes streams.
  void attend();

  /// Ends what we opened; used when this member goes away.
  void stop();

  /// Exchanges views with a random member now.
  void refresh();

  /// Exchanges under way that we opened.
  std::size_t exchanges() const noexcept;

 private:
  enum class purpose : std::uint8_t { exchange, probe, deliver, fetch, serve };

  /// How far an exchange has come, seen from either end.
  enum class stage : std::uint8_t {
    silent,    ///< The other has neither asked nor replied.
    begun,     ///< It has, and its view is coming.
    whole,     ///< Its view is here, to the end.
    answered,  ///< serve: and ours was sent.
  };

  struct session {
    stream_id stream{};
    purpose what{};
    stage reached{};
    bool fresh = false;            ///< serve: the asker's epoch is provisional.
    std::uint64_t sequence = 0;    ///< probe, deliver: of the ack.
    std::uint64_t remembered = 0;  ///< exchange, serve: the greatest epoch of the asker's name.
    endpoint peer{};               ///< serve: where the asker calls from.
    admission door{};              ///< Of who is at the other end, if it isn't held here.
    finished done{};
  };

  session* find(stream_id stream) noexcept;
  session& open(const endpoint& to, purpose what);
  void close(stream_id stream, const stream_outcome& how = {});
  void end(stream_id stream, const stream_outcome& how);
  void send_view(stream_id stream);
  void take_rows(session& at, const packet& content, const view_rows& rows);
  bool take_own_row(session& at, const record_ptr& life, bool provisional);
  bool has_called(const record& life) const noexcept;
  void answer(session& at);
  void conclude(session& at);
  void refuse_full(session& at);
  void serve_request(session& at, const sender& from, const sync_request& asked);
  void refuse(session& at, refusal_reason reason, std::string detail);
  void exchange_done(session& at);
  void serve_metadata(session& at, const metadata_pull& asked);
  void serve_ping(session& at, const sender& from, const ping& asked);
  void take_message(session& at, const sender& from, const user_message& message);
  bool room() const noexcept { return sessions_.size() < shared_.settings.limits.streams; }
  bool room_to_serve() const noexcept;

  core& shared_;
  membership& members_;
  prober* prober_ = nullptr;
  std::vector<session> sessions_;
  std::uint64_t last_stream_ = 0;

  struct caller {
    std::uint64_t name = 0;  ///< hash_bytes() of it.
    std::uint64_t epoch = 0;
    endpoint from;
  };
  std::vector<caller> callers_;  ///< While exchanges that we opened are under way.
  bool decided_ = false;         ///< There may be something to attend to.

  static constexpr std::size_t callers_max = 64;
};

/// The error that a refusal amounts to for the one who was refused.
std::error_code to_error(refusal_reason reason) noexcept;

}  // namespace lifering::swim
