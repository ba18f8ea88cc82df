// The inside of the driver. Five parts: its life (driver.cpp), what comes in (driver_inputs.cpp),
// what goes out (driver_effects.cpp), who has proved to be alive (driver_proofs.cpp), and where we
// are ourselves (driver_address.cpp).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/limited_log.hpp"
#include "base/scratch.hpp"
#include "net/carrier.hpp"
#include "net/driver.hpp"
#include "net/encoding.hpp"
#include "net/io.hpp"
#include "net/member_sources.hpp"
#include "net/operations.hpp"
#include "net/recent_echoes.hpp"
#include "net/recently_asked.hpp"
#include "net/resolver.hpp"
#include "net/stream_greeting.hpp"
#include "net/stream_set.hpp"
#include "net/unopened_peers.hpp"
#include "wire/challenger.hpp"
#include "wire/codec.hpp"

namespace lifering::net {

/// Inputs reach the machine one at a time. What happens while its effects are carried out (a
/// command from the batch handler, a send that fails at once) is kept and handed in afterwards, so
/// that nothing recurses and the machine is never entered twice.
class driver::impl final : public datagram_handler, public stream_handler {
 public:
  impl(asio::any_io_executor executor, driver_options options, batch_handler on_batch);

  const strand& get_strand() const noexcept { return strand_; }
  std::optional<problem> open(std::weak_ptr<void> owner);
  void start();
  void stop(std::function<void()> done);

  template <class Command>
  void command(const Command& value) {
    if (state_ != state::running) return;
    if (effects_) {
      later_.emplace_back(value);
    } else {
      apply(value);
      settle();
    }
  }

  endpoint local_address() const { return local_; }
  endpoint advertised_address() const { return advertised_; }
  swim::protocol& protocol() noexcept;
  const counters& count() const noexcept { return count_; }
  net::gauges gauges() const;

 private:
  enum class state : std::uint8_t { closed, open, running, stopped };

  /// Lines that others can cause, each kind of which is written a bounded number of times.
  enum class complaint : std::uint8_t {
    not_allowed,
    wrong_cluster,
    wrong_version,
    not_sealed,
    cannot_open,
    cannot_send,
    count_,
  };

  /// An ack that didn't come and counts as come.
  struct presumed_ack {
    endpoint from;
    swim::ping to;
  };

  using postponed =
      std::variant<swim::peer_refused, swim::send_failed, swim::stream_ended, presumed_ack,
                   swim::join_command, swim::leave_command, swim::cancel_command,
                   swim::update_command, swim::forget_command, swim::send_command>;

  /// The datagram whose effects are being carried out, and what may be answered to it.
  struct question {
    endpoint from;
    bool is_trusted;   // From where a member is known to be, or has proved to be.
    std::size_t room;  // Bytes left, if it isn't.
  };

  // Life.
  std::optional<problem> open_carrier();
  void make_parts();
  void report_start(std::string_view how_advertised) const;

  // Where we are.
  void watch_own_name();
  void own_name_found(const std::vector<endpoint>& addresses);

  // What comes in.
  void datagram_received(const endpoint& from, std::span<const std::uint8_t> bytes) override;
  void datagram_refused(const endpoint& peer) override;
  void datagram_failed(const endpoint& to, std::error_code error) override;
  void stream_opened(swim::stream_id id) override;
  void stream_accepted(swim::stream_id id, const endpoint& from) override;
  void frame_received(swim::stream_id id, std::span<const std::uint8_t> frame) override;
  void frame_refused(swim::stream_id id, wire::decode_error error) override;
  void stream_ended(swim::stream_id id, std::error_code error) override;
  bool is_members_source(const endpoint& source) override;
  void batch_ended() override { settle(); }
  void seed_resolved(const std::string& seed, std::vector<endpoint> addresses,
                     std::error_code error);
  void timer_expired();
  void count_dropped(wire::decode_error error, const endpoint* from);
  void count_disallowed(const endpoint& from);
  void leave_out_disallowed(swim::packet& from);
  bool is_about_one_family(const endpoint& to, const std::error_code& error) const;
  void take_datagram(const endpoint& from, std::span<const std::uint8_t> bytes);
  bool is_member_at(std::string_view name, const endpoint& address) const;

  // Who has proved to be alive.
  bool may_change_things(const endpoint& from, std::size_t size);
  bool is_echo(const endpoint& from, const wire::proof& proof) const;
  wire::proof proof_beside(const endpoint& to, const swim::body& content);
  std::uint64_t challenge_for(std::string_view name, std::uint64_t epoch, const endpoint& at) const;
  void answer_challenge(const endpoint& from, const wire::proof& with, std::size_t size_max);
  void send_proof(const endpoint& to, const wire::proof& with, std::size_t size_max);
  void send_proof(swim::stream_id id, const wire::proof& with);
  swim::packet bare_packet() const;
  bool may_pass(swim::stream_id id);
  void hold(swim::stream_id id, stream_greeting& greeting, const swim::packet& packet);
  void release_held(swim::stream_id id, stream_greeting& greeting);
  void refuse_unproven(swim::stream_id id, std::error_code error);
  static std::uint64_t challenge_period();

  // Hands one input to the machine and carries its effects out.
  template <class Input>
  void apply(const Input& input) {
    if (!enter()) return;
    machine_->handle(now(), input, **effects_);
    carry_out();
  }
  void apply(const presumed_ack& input);
  bool enter();
  void settle();
  void settle_later();
  void arm_timer();
  static base::time_point now();

  // What goes out.
  void carry_out();
  void carry(const swim::send_datagram& effect);
  void carry(const swim::open_stream& effect);
  void carry(const swim::send_frame& effect);
  void carry(const swim::close_stream& effect);
  void carry(const swim::resolve_seed& effect);
  void presume_answered(const endpoint& to, const swim::ping& asked);
  bool may_send_to_stranger(const endpoint& to);
  void answer_stranger(const swim::packet& reply);
  bool ask_stranger(const endpoint& to, const swim::packet& packet, const wire::proof& with);
  void send_frame(swim::stream_id id, const swim::packet& frame, const wire::proof& with);

  strand strand_;
  operations pending_;
  driver_options options_;
  batch_handler on_batch_;
  base::limited_log<complaint> complain_;
  counters count_;
  wire::codec codec_;
  state state_ = state::closed;
  endpoint local_;
  endpoint advertised_;

  std::optional<swim::protocol> machine_;
  std::optional<base::scratch<swim::effects>> effects_;  // Until they are carried out.
  swim::packet* incoming_ = nullptr;                     // While it is dealt with.
  std::optional<question> question_;

  wire::challenger challenger_;
  std::map<swim::stream_id, stream_greeting> greetings_;  // Sealed streams only.
  recent_echoes echoes_;
  recently_asked asked_;
  unopened_peers unopened_;
  member_sources sources_;

  base::time_point heard_v4_{};  // When a datagram of each family came last.
  base::time_point heard_v6_{};
  std::vector<postponed> later_;
  bool will_settle_ = false;

  io::timer timer_;
  base::time_point armed_for_ = base::never;

  std::unique_ptr<carrier> carrier_;
  datagram_port* datagrams_ = nullptr;  // The carrier's.
  std::optional<stream_set> streams_;
  std::optional<resolver> resolver_;
  std::optional<resolver> own_name_;  // Where what is advertised is a host's name.
  io::timer own_name_timer_;
  std::set<std::string> unresolved_;  // Seeds whose failure was logged and hasn't ended.
};

}  // namespace lifering::net
