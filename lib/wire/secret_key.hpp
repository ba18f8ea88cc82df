// One secret of a cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/secret_file.hpp"

namespace lifering::wire {

class secret_key;
using key_ptr = std::shared_ptr<const secret_key>;

/// 32 bytes in memory that is kept out of core dumps and swap where the system allows it, and that
/// is wiped at the end. There is one copy of a key, and everybody shares it. Nothing prints a key;
/// people and logs speak of it by its id.
class secret_key {
 public:
  static constexpr std::size_t size = 32;

  /// From the system's generator of random numbers.
  static key_ptr generate();

  /// From 64 hexadecimal digits or 44 characters of base64; null for any other text.
  static key_ptr from_text(std::string_view text);

  static key_ptr from_bytes(std::span<const std::uint8_t, size> bytes);

  secret_key(const secret_key&) = delete;
  secret_key& operator=(const secret_key&) = delete;

  /// 16 hexadecimal digits that tell keys apart and tell nothing of the key: a hash.
  const std::string& id() const noexcept { return id_; }

  /// In base64, as a key file has it. For making such a file, and for nothing else.
  base::secret_text to_text() const;

  /// For the cipher.
  const std::uint8_t* data() const noexcept { return bytes_.get(); }

 private:
  struct wipe {
    void operator()(std::uint8_t* bytes) const noexcept;
  };

  secret_key();
  void name();

  std::unique_ptr<std::uint8_t[], wipe> bytes_;
  std::string id_;
};

}  // namespace lifering::wire
