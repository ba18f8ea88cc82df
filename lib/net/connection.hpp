// What carries a stream's bytes: a TCP connection, or one of the application's transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <memory>
#include <span>
#include <system_error>

namespace lifering::net {

/// Told by a connection of the ends of its operations, on the strand.
class connection_user {
 public:
  virtual void connected(std::error_code error) = 0;

  /// The peer's end of stream is asio::error::eof.
  virtual void arrived(std::error_code error, std::size_t size) = 0;
  virtual void written(std::error_code error, std::size_t size) = 0;

 protected:
  ~connection_user() = default;
};

/// Belongs to its user. One read and one write at a time. Of what is under way when it closes, the
/// user may or may not be told.
class connection {
 public:
  virtual ~connection() = default;

  /// For connections that were made to be opened.
  virtual void connect(std::shared_ptr<connection_user> user) = 0;

  /// Whatever the span points into belongs to the user.
  virtual void read_some(std::span<std::uint8_t> into, std::shared_ptr<connection_user> user) = 0;
  virtual void write(std::span<const std::uint8_t> bytes,
                     std::shared_ptr<connection_user> user) = 0;

  /// The peer shall read an end of stream after what was written.
  virtual void end_sending() = 0;

  virtual void close() = 0;
};

/// Makes the connections that a member opens.
class connector {
 public:
  /// A connection that can be told to connect, or an error.
  virtual std::unique_ptr<connection> make_connection(const endpoint& to,
                                                      std::error_code& error) = 0;

 protected:
  ~connector() = default;
};

}  // namespace lifering::net
