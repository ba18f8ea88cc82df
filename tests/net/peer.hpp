// A member on real sockets, for tests: a driver and a record of what it told.
#pragma once

#include <algorithm>
#include <asio/io_context.hpp>
#include <functional>
#include <lifering/event.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/driver.hpp"
#include "net/loop.hpp"

namespace lifering::net::test {

/// Quick enough for a test, slow enough for a sanitizer.
inline driver_options quick_options(const std::string& name, const std::string& bind) {
  static std::uint64_t lives = 0;  // Two lives of one name must differ in their randomness.
  driver_options result;
  result.cluster = "test";
  result.bind = *endpoint::parse(bind);
  result.self.name = name;
  result.seed = ++lives;
  auto& timing = result.protocol.timing;
  timing.probe_interval = std::chrono::milliseconds(100);
  timing.probe_timeout = std::chrono::milliseconds(40);
  timing.gossip_interval = std::chrono::milliseconds(20);
  timing.push_pull_interval = std::chrono::milliseconds(1000);
  timing.stream_timeout = std::chrono::milliseconds(5000);
  return result;
}

class peer {
 public:
  using batch_hook = std::function<void(std::span<const swim::effect>)>;

  peer(asio::io_context& context, driver_options options)
      : context_(context),
        name_(options.self.name),
        driver_(std::make_shared<net::driver>(
            context.get_executor(), std::move(options),
            [this](std::span<const swim::effect> list) { write_down(list); })) {}

  peer(asio::io_context& context, const std::string& name, const std::string& bind = "127.0.0.1:0")
      : peer(context, quick_options(name, bind)) {
    opened = driver_->open();
    if (!opened) driver_->start();
  }

  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  ~peer() { kill(); }

  /// Stops without a word to the others.
  void kill() {
    if (!driver_) return;
    bool is_done = false;
    driver_->stop([&] { is_done = true; });
    run_until(context_, [&] { return is_done; });
    driver_.reset();
  }

  net::driver& driver() { return *driver_; }
  const std::string& name() const { return name_; }
  std::string address() const { return driver_->local_address().to_string(); }
  std::size_t present() const { return driver_->protocol().present_members(); }

  swim::command_id join(std::vector<std::string> seeds) {
    const swim::command_id id = next_id();
    driver_->command(swim::join_command{id, std::move(seeds), std::chrono::seconds(10)});
    return id;
  }
  swim::command_id leave() {
    const swim::command_id id = next_id();
    driver_->command(swim::leave_command{id, std::chrono::seconds(10)});
    return id;
  }
  swim::command_id send(const std::string& to, const std::string& payload, bool reliable) {
    const swim::command_id id = next_id();
    driver_->command(swim::send_command{id, to, reliable, payload});
    return id;
  }

  /// The completion of a command, once it is there; nullptr if it never comes.
  const swim::completed* completion(swim::command_id id) {
    run_until(context_, [&] { return completed_.contains(id); });
    const auto found = completed_.find(id);
    return found == completed_.end() ? nullptr : &found->second;
  }
  bool is_completed(swim::command_id id) const { return completed_.contains(id); }

  /// Waits until an event of that kind about that member was told.
  bool hears(event_kind kind, const std::string& about) {
    return run_until(context_, [&] { return heard(kind, about); });
  }
  bool heard(event_kind kind, const std::string& about) const {
    return std::find(events.begin(), events.end(), std::pair{kind, about}) != events.end();
  }

  std::optional<problem> opened;
  std::vector<std::pair<event_kind, std::string>> events;
  std::vector<std::pair<std::string, std::string>> messages;
  batch_hook on_batch;

 private:
  swim::command_id next_id() { return swim::command_id{++last_id_}; }

  void write_down(std::span<const swim::effect> list) {
    for (const auto& each : list) {
      if (const auto* changed = std::get_if<swim::member_changed>(&each)) {
        events.emplace_back(changed->kind, changed->subject ? changed->subject->name : "");
      } else if (const auto* done = std::get_if<swim::completed>(&each)) {
        completed_.emplace(done->command, *done);
      } else if (const auto* message = std::get_if<swim::user_received>(&each)) {
        messages.emplace_back(message->from, message->payload);
      }
    }
    if (on_batch) on_batch(list);
  }

  asio::io_context& context_;
  std::string name_;
  std::uint64_t last_id_ = 0;
  std::map<swim::command_id, swim::completed> completed_;
  std::shared_ptr<net::driver> driver_;
};

}  // namespace lifering::net::test
