// One datagram at a time through Asio, for systems without the calls of datagram_io_linux.cpp. No
// system reports there whose packet was refused, so silence is the only evidence.
#include <array>
#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <vector>

#include "net/address.hpp"
#include "net/datagram_io.hpp"

namespace lifering::net {

struct datagram_receiver::state {
  std::vector<std::uint8_t> bytes;
  std::array<incoming_datagram, 1> batch;
};

datagram_receiver::datagram_receiver(std::size_t datagram_max) {
  // One more than the largest, since Asio doesn't tell of truncation.
  state_->bytes.resize(datagram_max + 1);
}
datagram_receiver::~datagram_receiver() = default;

std::span<const incoming_datagram> datagram_receiver::receive(io::udp_socket& socket,
                                                              std::error_code& error) {
  asio::ip::udp::endpoint from;
  const auto size = socket.receive_from(asio::buffer(state_->bytes), from, 0, error);
  if (error) return {};
  const bool truncated = size == state_->bytes.size();
  state_->batch[0] = {from_asio(from), {state_->bytes.data(), size}, truncated};
  return state_->batch;
}

std::size_t datagram_receiver::batch_max() noexcept {
  return 1;
}

struct datagram_sender::state {};

datagram_sender::datagram_sender() = default;
datagram_sender::~datagram_sender() = default;

std::size_t datagram_sender::send(io::udp_socket& socket, bool is_v6, const outbox& from,
                                  std::size_t first, std::error_code& error) {
  const auto& each = from.list[first];
  const auto bytes = from.bytes_of(each);
  socket.send_to(asio::buffer(bytes.data(), bytes.size()), to_asio<asio::ip::udp>(each.to, is_v6),
                 0, error);
  return error ? 0 : 1;
}

std::size_t held_by_system(io::udp_socket&) {
  return 0;
}

void enable_reports(io::udp_socket&, std::error_code& error) {
  error.clear();
}

std::optional<network_report> next_report(io::udp_socket&) {
  return std::nullopt;
}

}  // namespace lifering::net
