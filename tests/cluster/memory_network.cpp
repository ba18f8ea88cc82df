#include "cluster/memory_network.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace lifering_test {
namespace {

using lifering::transport_stream;

/// One direction of a stream. Completions are called without the lock.
class pipe {
 public:
  void read(std::span<std::uint8_t> into, transport_stream::completion done) {
    settle([&] { reader_ = {into, std::move(done)}; });
  }

  void write(std::span<const std::uint8_t> bytes, transport_stream::completion done) {
    settle([&] { writer_ = {bytes, bytes.size(), std::move(done)}; });
  }

  void end() {
    settle([&] { is_ended_ = true; });
  }

  /// The one who reads is gone, or the one who writes without an end.
  void cut_off() {
    settle([&] { is_cut_off_ = !is_ended_ || is_cut_off_; });
  }

  void drop_reader() {
    settle([&] {
      reader_.done = nullptr;
      is_cut_off_ = true;
    });
  }

 private:
  static constexpr std::size_t capacity = 65536;

  using ending = std::pair<transport_stream::completion, std::pair<std::error_code, std::size_t>>;

  template <class Change>
  void settle(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    // After a read there may be room for the rest of a write.
    for (auto endings = take_endings(); !endings.empty(); endings = take_endings()) {
      for (const auto& [done, result] : endings)
        done(result.first, result.second);
    }
  }

  std::vector<ending> take_endings() {
    std::vector<ending> endings;
    const auto end = [&](transport_stream::completion& done, std::error_code error,
                         std::size_t size) {
      endings.push_back({std::exchange(done, nullptr), {error, size}});
    };
    const std::lock_guard lock(mutex_);
    fill();
    if (writer_.done && writer_.rest.empty()) {
      end(writer_.done, {}, writer_.size);
    } else if (writer_.done && is_cut_off_) {
      end(writer_.done, std::make_error_code(std::errc::broken_pipe), 0);
    }
    if (reader_.done && !kept_.empty()) {
      end(reader_.done, {}, drain());
    } else if (reader_.done && is_ended_) {
      end(reader_.done, {}, 0);
    } else if (reader_.done && is_cut_off_) {
      end(reader_.done, std::make_error_code(std::errc::connection_reset), 0);
    }
    return endings;
  }

  void fill() {
    const auto size = std::min(capacity - kept_.size(), writer_.rest.size());
    kept_.insert(kept_.end(), writer_.rest.begin(),
                 writer_.rest.begin() + static_cast<std::ptrdiff_t>(size));
    writer_.rest = writer_.rest.subspan(size);
  }

  std::size_t drain() {
    const auto size = std::min(kept_.size(), reader_.into.size());
    const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(size);
    std::copy(kept_.begin(), end, reader_.into.begin());
    kept_.erase(kept_.begin(), end);
    return size;
  }

  struct reading {
    std::span<std::uint8_t> into;
    transport_stream::completion done;
  };
  struct writing {
    std::span<const std::uint8_t> rest;
    std::size_t size = 0;
    transport_stream::completion done;
  };

  std::mutex mutex_;
  std::deque<std::uint8_t> kept_;
  reading reader_;
  writing writer_;
  bool is_ended_ = false;
  bool is_cut_off_ = false;
};

class memory_stream final : public transport_stream {
 public:
  /// `on_write` is told of all that is written.
  using observer = std::function<void(std::span<const std::uint8_t>)>;
  memory_stream(std::shared_ptr<pipe> in, std::shared_ptr<pipe> out, observer on_write = {})
      : in_(std::move(in)), out_(std::move(out)), on_write_(std::move(on_write)) {}
  ~memory_stream() override { close(); }

  void async_read_some(std::span<std::uint8_t> into, completion done) override {
    in_->read(into, std::move(done));
  }
  void async_write(std::span<const std::uint8_t> bytes, completion done) override {
    if (on_write_) on_write_(bytes);
    out_->write(bytes, std::move(done));
  }
  void shutdown_send() override { out_->end(); }
  void close() override {
    in_->drop_reader();
    out_->cut_off();
  }

 private:
  const std::shared_ptr<pipe> in_;
  const std::shared_ptr<pipe> out_;
  const observer on_write_;
};

struct stream_ends {
  std::shared_ptr<memory_stream> opened;
  std::shared_ptr<memory_stream> accepted;
};

stream_ends make_ends(memory_stream::observer by_opener = {},
                      memory_stream::observer by_other = {}) {
  const auto there = std::make_shared<pipe>();
  const auto back = std::make_shared<pipe>();
  return {std::make_shared<memory_stream>(back, there, std::move(by_opener)),
          std::make_shared<memory_stream>(there, back, std::move(by_other))};
}

}  // namespace

class memory_transport final : public lifering::transport {
 public:
  memory_transport(std::shared_ptr<memory_network> network, const lifering::endpoint& at)
      : network_(std::move(network)), at_(at) {}

  std::optional<lifering::problem> open(const lifering::endpoint&, std::shared_ptr<listener> told,
                                        lifering::endpoint& local) override {
    local = at_;
    told_ = told;
    if (network_->add(at_, std::move(told))) return std::nullopt;
    return lifering::problem{lifering::errc::address_in_use, at_.to_string() + " is taken"};
  }

  std::error_code send(const lifering::endpoint& to, std::span<const std::uint8_t> bytes) override {
    if (network_->is_cut(at_, to)) return {};
    network_->record(at_, to, bytes);
    if (network_->divert) {
      network_->divert({at_, to, {bytes.begin(), bytes.end()}});
    } else if (const auto told = network_->listener_at(to)) {
      told->datagram_received(at_, bytes);
    } else {
      told_->peer_refused(to);
    }
    return {};
  }

  void async_connect(const lifering::endpoint& to, connected done) override {
    if (network_->is_cut(at_, to)) return;  // As a black hole does: nothing ever comes back.
    if (auto made = network_->connect(at_, to)) {
      done({}, std::move(made));
    } else {
      done(std::make_error_code(std::errc::connection_refused), nullptr);
    }
  }

  void close() override { network_->remove(at_); }

 private:
  const std::shared_ptr<memory_network> network_;
  const lifering::endpoint at_;
  std::shared_ptr<listener> told_;
};

std::shared_ptr<lifering::transport> memory_network::make_transport(const lifering::endpoint& at) {
  return std::make_shared<memory_transport>(shared_from_this(), at);
}

bool memory_network::add(const lifering::endpoint& at, std::shared_ptr<listener> told) {
  const std::lock_guard lock(mutex_);
  return listeners_.emplace(at, std::move(told)).second;
}

void memory_network::remove(const lifering::endpoint& at) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(at);
}

void memory_network::cut(const lifering::endpoint& at) {
  const std::lock_guard lock(mutex_);
  cut_.insert(at);
}

bool memory_network::is_cut(const lifering::endpoint& from, const lifering::endpoint& to) {
  const std::lock_guard lock(mutex_);
  return cut_.contains(from) || cut_.contains(to);
}

std::shared_ptr<memory_network::listener> memory_network::listener_at(
    const lifering::endpoint& at) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(at);
  return found == listeners_.end() ? nullptr : found->second;
}

void memory_network::inject(const lifering::endpoint& from, const lifering::endpoint& to,
                            std::span<const std::uint8_t> bytes) {
  if (const auto told = listener_at(to)) told->datagram_received(from, bytes);
}

std::shared_ptr<transport_stream> memory_network::open_stream(const lifering::endpoint& from,
                                                              const lifering::endpoint& to) {
  const auto told = listener_at(to);
  if (!told) return nullptr;
  auto ends = make_ends();
  told->stream_accepted(from, std::move(ends.accepted));
  return std::move(ends.opened);
}

std::shared_ptr<transport_stream> memory_network::connect(const lifering::endpoint& from,
                                                          const lifering::endpoint& to) {
  const auto told = listener_at(to);
  if (!told) return nullptr;
  std::size_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = streams_.size();
    streams_.push_back({from, to, {}, {}});
  }
  const auto writer = [&](std::vector<std::uint8_t> stream::*side) {
    return [self = shared_from_this(), number, side](std::span<const std::uint8_t> bytes) {
      const std::lock_guard lock(self->mutex_);
      auto& written = self->streams_[number].*side;
      written.insert(written.end(), bytes.begin(), bytes.end());
    };
  };
  auto ends = make_ends(writer(&stream::bytes), writer(&stream::answer));
  told->stream_accepted(from, std::move(ends.accepted));
  return std::move(ends.opened);
}

void memory_network::record(const lifering::endpoint& from, const lifering::endpoint& to,
                            std::span<const std::uint8_t> bytes) {
  const std::lock_guard lock(mutex_);
  datagrams_.push_back({from, to, {bytes.begin(), bytes.end()}});
}

std::vector<memory_network::datagram> memory_network::datagrams() {
  const std::lock_guard lock(mutex_);
  return datagrams_;
}

std::vector<memory_network::stream> memory_network::streams() {
  const std::lock_guard lock(mutex_);
  return streams_;
}

}  // namespace lifering_test
