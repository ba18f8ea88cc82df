// Asio's objects on the driver's strand, by its own type. Behind asio::any_io_executor, which has
// no room for a strand, each operation would cost several allocations.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <asio/strand.hpp>
#include <chrono>

namespace lifering::net::io {

using executor = asio::strand<asio::any_io_executor>;
using udp_socket = asio::basic_datagram_socket<asio::ip::udp, executor>;
using tcp_socket = asio::basic_stream_socket<asio::ip::tcp, executor>;
using tcp_acceptor = asio::basic_socket_acceptor<asio::ip::tcp, executor>;
using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, executor>;

}  // namespace lifering::net::io
