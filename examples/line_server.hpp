// Lines of text over TCP, for the examples: a server with a thread for each connection, and a
// client that asks one question.
#pragma once

#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <lifering/endpoint.hpp>
#include <list>
#include <optional>
#include <string>
#include <thread>

/// `1.2.3.4:80` as Asio has it. Throws std::invalid_argument for anything else.
inline asio::ip::tcp::endpoint to_tcp(const std::string& text) {
  const auto parsed = lifering::endpoint::parse(text);
  if (!parsed) throw std::invalid_argument(text + " is no IP:PORT");
  std::string host = text.substr(0, text.rfind(':'));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return {asio::ip::make_address(host), parsed->port};
}

class line_server {
 public:
  /// Listens and answers each line with a line. `answer` is called on several threads at once.
  line_server(const std::string& at, std::function<std::string(std::string)> answer)
      : answer_(std::move(answer)), acceptor_(context_, to_tcp(at)) {
    accept();
    thread_ = std::thread([this] { context_.run(); });
  }

  ~line_server() {
    context_.stop();
    thread_.join();
    for (auto& each : connections_) {
      ::shutdown(each.socket_handle, SHUT_RDWR);  // Ends its thread's read.
      each.thread.join();
    }
  }

 private:
  struct connection {
    explicit connection(asio::ip::tcp::socket socket) : stream(std::move(socket)) {
      socket_handle = stream.socket().native_handle();
    }
    asio::ip::tcp::iostream stream;
    int socket_handle;
    std::atomic<bool> over{false};
    std::thread thread;
  };

  void accept() {
    acceptor_.async_accept([this](std::error_code error, asio::ip::tcp::socket socket) {
      if (!error) begin(std::move(socket));
      accept();
    });
  }

  void begin(asio::ip::tcp::socket socket) {
    connections_.remove_if([](connection& each) {
      if (each.over) each.thread.join();
      return each.over.load();
    });
    auto& made = connections_.emplace_back(std::move(socket));
    made.thread = std::thread([this, &made] {
      for (std::string line; std::getline(made.stream, line);) {
        made.stream << answer_(line) << std::endl;
      }
      made.over = true;
    });
  }

  const std::function<std::string(std::string)> answer_;
  asio::io_context context_;
  asio::ip::tcp::acceptor acceptor_;
  std::list<connection> connections_;
  std::thread thread_;
};

/// Sends one line and returns the line that comes back, or nothing if none does in time.
inline std::optional<std::string> ask(const std::string& address, const std::string& line,
                                      std::chrono::milliseconds timeout) {
  asio::ip::tcp::iostream stream;
  stream.expires_after(timeout);
  stream.connect(to_tcp(address));
  stream << line << std::endl;
  std::string answer;
  return std::getline(stream, answer) ? std::optional(answer) : std::nullopt;
}
