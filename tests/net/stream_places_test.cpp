// Who has a place among the streams, and how waiting connections are taken.
#include <asio/read.hpp>
#include <lifering/error.hpp>
#include <vector>

#include "net/address.hpp"
#include "net/stream_node.hpp"

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace lifering::net {
namespace {

using namespace std::chrono_literals;
using node = test::stream_node;
using swim::stream_id;
using test::run_until;

TEST_CASE("One source has so many streams and no more, and another still has its own") {
  asio::io_context context;
  node server(context, 16, 20s, 2);
  const auto call_from = [&](const char* address) {
    asio::ip::tcp::socket made(context, asio::ip::tcp::v4());
    made.bind(asio::ip::tcp::endpoint(asio::ip::make_address(address), 0));
    made.connect(to_asio<asio::ip::tcp>(server.address, false));
    return made;
  };
  auto first_caller = call_from("127.0.0.1");
  auto second_caller = call_from("127.0.0.1");
  auto third_caller = call_from("127.0.0.1");
  REQUIRE(run_until(context, [&] { return server.count.streams_refused_source == 1; }));
  CHECK(server.accepted.size() == 2);
  auto other = call_from("127.0.0.2");
  REQUIRE(run_until(context, [&] { return server.accepted.size() == 3; }));
  CHECK(server.count.streams_refused_source == 1);
  // A place that is given back can be taken again.
  first_caller.close();
  REQUIRE(run_until(context, [&] { return server.ended.size() == 1; }));
  auto fourth_caller = call_from("127.0.0.1");
  CHECK(run_until(context, [&] { return server.accepted.size() == 4; }));
}

TEST_CASE("Of the places of those who call us strangers leave the last sixth to members") {
  asio::io_context context;
  node server(context, 16);
  server.callers_are_members = false;
  std::vector<asio::ip::tcp::socket> crowd;
  const auto call = [&] {
    crowd.emplace_back(context).connect(to_asio<asio::ip::tcp>(server.address, false));
  };
  for (int i = 0; i < 12; ++i)
    call();
  REQUIRE(run_until(context, [&] { return server.count.streams_refused_limit == 2; }));
  CHECK(server.accepted.size() == 10);

  server.callers_are_members = true;
  for (int i = 0; i < 3; ++i)
    call();
  REQUIRE(run_until(context, [&] { return server.count.streams_refused_limit == 3; }));
  CHECK(server.accepted.size() == 12);
}

TEST_CASE("Callers can't take the last quarter of the places, and never more than there are") {
  asio::io_context context;
  node server(context, 4);
  std::vector<asio::ip::tcp::socket> crowd;
  for (int i = 0; i < 6; ++i) {
    crowd.emplace_back(context).connect(to_asio<asio::ip::tcp>(server.address, false));
  }
  REQUIRE(run_until(context, [&] { return server.count.streams_refused_limit == 3; }));
  CHECK(server.accepted.size() == 3);
  CHECK(server.streams->size() == 3);

  // Those turned away see their connection closed.
  std::uint8_t byte = 0;
  std::error_code error;
  asio::read(crowd.back(), asio::buffer(&byte, 1), error);
  CHECK(error);

  node peer(context);
  server.streams->open(stream_id{1}, peer.address, 20s);
  REQUIRE(run_until(context, [&] { return server.opened.size() == 1; }));
  server.streams->open(stream_id{2}, peer.address, 20s);
  REQUIRE(run_until(context, [&] { return server.ended.size() == 1; }));
  CHECK(server.ended[0].first == stream_id{2});
  CHECK(server.ended[0].second == std::errc::too_many_files_open);

  // A place that becomes free is given away again.
  crowd.front().close();
  REQUIRE(run_until(context, [&] { return server.ended.size() == 2; }));
  asio::ip::tcp::socket late(context);
  late.connect(to_asio<asio::ip::tcp>(server.address, false));
  CHECK(run_until(context, [&] { return server.accepted.size() == 4; }));
}

#ifdef __linux__

/// While it lives, no further descriptor can be opened.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next);
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_CASE("Without descriptors nobody is accepted and nothing connects, and then it goes on") {
  asio::io_context context;
  node server(context);
  asio::ip::tcp::socket caller(context, asio::ip::tcp::v4());
  {
    const no_descriptors now;
    caller.connect(to_asio<asio::ip::tcp>(server.address, false));
    server.streams->open(stream_id{1}, server.address, 20s);
    REQUIRE(run_until(context, [&] { return server.count.accept_errors > 1; }));
    REQUIRE(server.ended.size() == 1);
    CHECK(server.ended[0].second == std::errc::too_many_files_open);
    CHECK(server.accepted.empty());
  }
  CHECK(run_until(context, [&] { return server.accepted.size() == 1; }));
}

#endif

TEST_CASE("Connections that wait are taken many to a turn, but not all") {
  asio::io_context context;
  node server(context, 100);
  std::vector<asio::ip::tcp::socket> callers;
  for (int i = 0; i < 2 * acceptor::per_turn + 1; ++i) {
    callers.emplace_back(context, asio::ip::tcp::v4());
    callers.back().connect(to_asio<asio::ip::tcp>(server.address, false));
  }
  for (const int taken : {acceptor::per_turn, 2 * acceptor::per_turn, 2 * acceptor::per_turn + 1}) {
    const auto before = server.accepted.size();
    REQUIRE(run_until(context, [&] { return server.accepted.size() > before; }));
    CHECK(server.accepted.size() == static_cast<std::size_t>(taken));
  }
}

}  // namespace
}  // namespace lifering::net
