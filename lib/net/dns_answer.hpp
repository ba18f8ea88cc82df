// Reads what a name server answered. Anybody who can forge a datagram can have written it.
#pragma once

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lifering::net {

/// One answer of a name server: its bytes, and a place in them that only moves forward.
class dns_answer {
 public:
  explicit dns_answer(std::span<const std::uint8_t> bytes) : bytes_(bytes), at_(header_size) {
    if (bytes.size() < header_size) return;
    for (unsigned left = number(4); left > 0 && !is_over(); --left) {  // The questions.
      if (skip_name()) at_ += 4;
    }
    records_ = is_over() ? 0 : number(6);
  }

  /// Calls `take(type, data)` for each record of the answer; the data's place is kept in step, so
  /// that names in it can be expanded.
  template <class Take>
  void for_each(Take take) {
    for (; records_ > 0 && skip_name() && at_ + 10 <= bytes_.size(); --records_) {
      const unsigned type = number(at_);
      const std::size_t size = number(at_ + 8);
      at_ += 10;
      if (size > bytes_.size() - at_) return end();
      take(type, bytes_.subspan(at_, size));
      at_ += size;
    }
  }

  /// The name that begins at that byte of the answer, which is within it.
  std::string name_at(const std::uint8_t* where) const {
    std::array<char, NS_MAXDNAME> text{};
    const int size = ::dn_expand(bytes_.data(), bytes_.data() + bytes_.size(), where, text.data(),
                                 static_cast<int>(text.size()));
    return size < 0 ? std::string() : std::string(text.data());
  }

 private:
  static constexpr std::size_t header_size = 12;  // RFC 1035, 4.1.1

  bool is_over() const { return at_ > bytes_.size(); }
  void end() { records_ = 0; }
  unsigned number(std::size_t at) const {
    return static_cast<unsigned>(bytes_[at] << 8 | bytes_[at + 1]);
  }
  bool skip_name() {
    if (at_ >= bytes_.size()) return false;
    const int size = ::dn_skipname(bytes_.data() + at_, bytes_.data() + bytes_.size());
    if (size < 0) {
      at_ = bytes_.size() + 1;
      return false;
    }
    at_ += static_cast<std::size_t>(size);
    return true;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_;
  unsigned records_ = 0;
};

}  // namespace lifering::net
