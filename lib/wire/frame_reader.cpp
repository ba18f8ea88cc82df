#include "wire/frame_reader.hpp"

#include "base/check.hpp"

namespace lifering::wire {

frame_reader::frame_reader(std::size_t frame_max) : frame_max_(frame_max) {
  LIFERING_CHECK(frame_max >= envelope_prefix_size && frame_max <= packet_max);
}

void frame_reader::feed(bytes_view arrived) {
  if (error_ != decode_error::none) return;
  // Moving the rest to the front is cheap: what is whole was handed out before.
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  buffer_.insert(buffer_.end(), arrived.begin(), arrived.end());
}

bytes_view frame_reader::next() {
  if (error_ != decode_error::none) return {};
  const bytes_view rest = bytes_view(buffer_).subspan(begin_);
  std::size_t size = 0;
  const auto error = read_prefix(rest, size);
  if (error == decode_error::truncated) return {};
  if (error != decode_error::none || size > frame_max_) {
    error_ = error != decode_error::none ? error : decode_error::over_limit;
    buffer_.clear();
    begin_ = 0;
    return {};
  }
  if (rest.size() < size) return {};
  begin_ += size;
  return rest.first(size);
}

}  // namespace lifering::wire
