// Reading files that hold secrets.
#pragma once

#include <cstddef>
#include <lifering/error.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lifering::base {

/// Text in memory that is overwritten before it is given back. Movable, not copyable; never
/// printed.
class secret_text {
 public:
  secret_text() = default;
  explicit secret_text(std::size_t size);
  ~secret_text();
  secret_text(secret_text&& other) noexcept;
  secret_text& operator=(secret_text&& other) noexcept;

  char* data() noexcept { return data_.get(); }
  std::string_view view() const noexcept { return {data_.get(), size_}; }

  /// Keeps the first `size` bytes, at most what it has.
  void shrink(std::size_t size) noexcept;

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
};

/// Reads a regular file of at most `size_max` bytes into `out`. Refused is a file that anybody but
/// its owner may read or write, and one that belongs neither to us nor to root. What is checked is
/// the open file, so that it can't be exchanged in between. The problem names the path, never what
/// is in the file.
std::optional<problem> read_secret_file(const std::string& path, std::size_t size_max,
                                        secret_text& out);

}  // namespace lifering::base
