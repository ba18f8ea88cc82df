// A network in the memory of one process, for members of a cluster: an example of a transport, and
// the way to test one's own service without a socket.
#pragma once

#include <functional>
#include <lifering/transport.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace lifering_test {

/// Carries at once, on the thread of who sends. Safe from any thread.
class memory_network : public std::enable_shared_from_this<memory_network> {
 public:
  /// For a member at `at`.
  std::shared_ptr<lifering::transport> make_transport(const lifering::endpoint& at);

  /// All that members have sent so far; what is replayed isn't recorded again.
  struct datagram {
    lifering::endpoint from;
    lifering::endpoint to;
    std::vector<std::uint8_t> bytes;
  };
  struct stream {
    lifering::endpoint from;
    lifering::endpoint to;
    std::vector<std::uint8_t> bytes;  ///< Of the one who opened it.
    std::vector<std::uint8_t> answer;
  };
  std::vector<datagram> datagrams();
  std::vector<stream> streams();

  /// What goes to or from there is lost without a word: datagrams, and streams that are opened.
  void cut(const lifering::endpoint& at);

  /// Set before members start: takes what they send, which then arrives only as far as inject() is
  /// called for it. From several threads at once.
  std::function<void(const datagram&)> divert;

  /// Puts a datagram on the network as if `from` had sent it.
  void inject(const lifering::endpoint& from, const lifering::endpoint& to,
              std::span<const std::uint8_t> bytes);

  /// Opens a stream as if `from` had done so; null when nobody listens.
  std::shared_ptr<lifering::transport_stream> open_stream(const lifering::endpoint& from,
                                                          const lifering::endpoint& to);

 private:
  friend class memory_transport;
  using listener = lifering::transport::listener;

  bool add(const lifering::endpoint& at, std::shared_ptr<listener> told);
  void remove(const lifering::endpoint& at);
  std::shared_ptr<listener> listener_at(const lifering::endpoint& at);
  std::shared_ptr<lifering::transport_stream> connect(const lifering::endpoint& from,
                                                      const lifering::endpoint& to);
  void record(const lifering::endpoint& from, const lifering::endpoint& to,
              std::span<const std::uint8_t> bytes);
  bool is_cut(const lifering::endpoint& from, const lifering::endpoint& to);

  std::mutex mutex_;
  std::map<lifering::endpoint, std::shared_ptr<listener>> listeners_;
  std::set<lifering::endpoint> cut_;
  std::vector<datagram> datagrams_;
  std::vector<stream> streams_;
};

}  // namespace lifering_test
