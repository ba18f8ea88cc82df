// How a connection is made when the network loses what makes it.
#include "net/tcp_connection.hpp"

#include <algorithm>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "net/loop.hpp"
#include "support/catch.hpp"

#ifdef __linux__

namespace lifering::net {
namespace {

using test::run_until;

/// How many sockets of this network namespace wait for an answer to their SYN from that port.
std::size_t attempts_at(std::uint16_t port) {
  constexpr std::string_view syn_sent = "02";
  std::ostringstream wanted;
  wanted << "0100007F:" << std::hex << std::uppercase << std::setw(4) << std::setfill('0') << port;
  std::ifstream table("/proc/net/tcp");
  std::size_t found = 0;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, local, remote, state;
    words >> number >> local >> remote >> state;
    if (remote == wanted.str() && state == syn_sent) ++found;
  }
  return found;
}

/// Listens and accepts nobody by itself. As long as its queue is full, it takes no SYN, as if the
/// network lost them.
struct deaf_listener {
  explicit deaf_listener(asio::io_context& context) : listening(context), first_in_queue(context) {
    listening.open(asio::ip::tcp::v4());
    listening.bind({asio::ip::address_v4::loopback(), 0});
    listening.listen(0);
    first_in_queue.connect(listening.local_endpoint());
  }

  std::uint16_t port() const { return listening.local_endpoint().port(); }

  asio::ip::tcp::acceptor listening;
  asio::ip::tcp::socket first_in_queue;
};

class caller final : public connection_user {
 public:
  void connected(std::error_code error) override { results.push_back(error); }
  void arrived(std::error_code, std::size_t) override {}
  void written(std::error_code, std::size_t) override {}

  std::vector<std::error_code> results;
  std::unique_ptr<connection> made;
};

struct bench {
  bench() : pending(asio::make_strand(context)) {}
  ~bench() {
    if (user->made) user->made->close();
    run_until(context, [this] { return pending.count() == 0; });
  }

  void connect(std::uint16_t port) {
    std::error_code error;
    user->made = connector.make_connection(endpoint::v4({127, 0, 0, 1}, port), error);
    REQUIRE_FALSE(error);
    user->made->connect(user);
  }

  asio::io_context context;
  operations pending;
  tcp_connector connector{asio::make_strand(context), endpoint::v4({127, 0, 0, 1}, 0), pending};
  std::shared_ptr<caller> user = std::make_shared<caller>();
};

}  // namespace

TEST_CASE("While nothing is heard, further attempts are made, and no more of them than four") {
  bench on;
  deaf_listener peer(on.context);
  on.connect(peer.port());
  std::size_t most = 0;
  const auto attempts = [&] {
    most = std::max(most, attempts_at(peer.port()));
    return most;
  };
  REQUIRE(attempts() == 1);
  REQUIRE(run_until(on.context, [&] { return attempts() == tcp_connection::attempts_max; }));

  // The first that comes through is the connection, and the others end.
  std::vector<asio::ip::tcp::socket> accepted;
  peer.listening.non_blocking(true);
  const auto accept = [&] {
    std::error_code error;
    auto socket = peer.listening.accept(error);
    if (!error) accepted.push_back(std::move(socket));
  };
  REQUIRE(run_until(on.context, [&] {
    accept();
    attempts();
    return !on.user->results.empty() && attempts_at(peer.port()) == 0;
  }));
  CHECK(on.user->results == std::vector<std::error_code>{{}});
  CHECK(most == tcp_connection::attempts_max);
}

TEST_CASE("A connection that is closed while it is being made makes no further attempt") {
  bench on;
  deaf_listener peer(on.context);
  on.connect(peer.port());
  REQUIRE(run_until(on.context, [&] { return attempts_at(peer.port()) == 2; }));
  on.user->made->close();
  REQUIRE(run_until(on.context, [&] { return on.pending.count() == 0; }));
  CHECK(attempts_at(peer.port()) == 0);
}

TEST_CASE("An io_context that goes away takes all attempts with it") {
  // What its end does to handlers, while strands, which mustn't outlive it, still refer to it.
  struct ending_context : asio::io_context {
    void end() { shutdown(); }
  };
  asio::io_context listens;
  deaf_listener peer(listens);
  ending_context on;
  operations pending(asio::make_strand(on));
  const endpoint loopback = endpoint::v4({127, 0, 0, 1}, 0);
  tcp_connector connector(asio::make_strand(on), loopback, pending);
  auto user = std::make_shared<caller>();
  std::error_code error;
  user->made = connector.make_connection(endpoint::v4({127, 0, 0, 1}, peer.port()), error);
  REQUIRE_FALSE(error);
  user->made->connect(user);
  REQUIRE(run_until(on, [&] { return attempts_at(peer.port()) == 3; }));
  const std::weak_ptr<caller> last = user;
  user.reset();  // Its connection's attempts keep it.
  REQUIRE_FALSE(last.expired());
  on.end();
  CHECK(last.expired());
  CHECK(attempts_at(peer.port()) == 0);
}

TEST_CASE("A loop that stood still attempts nothing again that has come through meanwhile") {
  // More than the system tells of in one turn, and it tells of time first: so that some hear of
  // their timer before their success.
  constexpr std::size_t count = 300;
  bench on;
  asio::steady_timer due_already(on.context, std::chrono::milliseconds(0));
  due_already.async_wait([](std::error_code) {});
  asio::ip::tcp::acceptor listening(on.context, {asio::ip::address_v4::loopback(), 0});
  std::vector<std::shared_ptr<caller>> callers;
  for (std::size_t i = 0; i < count; ++i) {
    callers.push_back(std::make_shared<caller>());
    std::error_code error;
    callers.back()->made = on.connector.make_connection(
        endpoint::v4({127, 0, 0, 1}, listening.local_endpoint().port()), error);
    REQUIRE_FALSE(error);
    callers.back()->made->connect(callers.back());
  }
  const auto until = std::chrono::steady_clock::now() + 2 * tcp_connection::attempt_delay;
  std::this_thread::sleep_until(until);
  REQUIRE(run_until(on.context, [&] {
    return std::all_of(callers.begin(), callers.end(),
                       [](const auto& each) { return !each->results.empty(); });
  }));
  for (const auto& each : callers) {
    CHECK(each->results == std::vector<std::error_code>{{}});
    each->made->close();
  }
  std::size_t accepted = 0;
  listening.non_blocking(true);
  for (std::error_code error; !error; accepted += error ? 0U : 1U)
    listening.accept(error);
  CHECK(accepted == count);
}

TEST_CASE("A refusal ends all attempts at once") {
  bench on;
  std::uint16_t port = 0;
  {
    deaf_listener peer(on.context);
    on.connect(peer.port());
    REQUIRE(run_until(on.context, [&] { return attempts_at(peer.port()) == 2; }));
    port = peer.port();
  }
  // Nobody listens any more: the next SYN is refused.
  REQUIRE(run_until(on.context, [&] { return !on.user->results.empty(); }));
  CHECK(on.user->results == std::vector<std::error_code>{asio::error::connection_refused});
  CHECK(attempts_at(port) == 0);
}

}  // namespace lifering::net

#endif
