// Who watches a simulated cluster: the view tracker, the checkers, the report, the paper runs.
#pragma once

#include <string_view>

#include "sim/node_set.hpp"
#include "swim/effect.hpp"
#include "swim/message.hpp"

namespace lifering::sim {

class observer {
 public:
  virtual ~observer() = default;

  virtual void on_started(node_id) {}
  /// Its process is about to end: crashed, vanished, left or superseded. The machine is there yet.
  virtual void on_stopping(node_id) {}
  /// It is gone.
  virtual void on_stopped(node_id) {}

  /// After each call of a machine: first its events in order, then the step as a whole. `heard` is
  /// the packet that was handed in, if it was one.
  virtual void on_event(node_id, const swim::member_changed&) {}
  virtual void on_step(node_id, const swim::packet* /*heard*/) {}

  virtual void on_completed(node_id, const swim::completed&) {}
  virtual void on_user_message(node_id, const swim::user_received&) {}

  /// A datagram leaves, or (with `stream`) a frame.
  virtual void on_sent(node_id, const swim::packet&, std::size_t /*bytes*/, bool /*stream*/) {}
};

}  // namespace lifering::sim
