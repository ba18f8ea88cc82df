// Keys from the command line or from a file, as bytes or in hexadecimal.
#pragma once

#include <string>
#include <vector>

#include "arguments.hpp"

namespace ring_tool {

class key_list {
 public:
  /// Takes a word, --keys-file or --hex; false if the flag is another one. The flag, if there is
  /// one, was taken from the front.
  void take_word(arguments& args);
  bool take_flag(arguments& args);

  /// Throws usage_error if there is none, or one that read() refuses.
  void check() const;

  struct key {
    std::string bytes;
    std::string printed;
  };
  /// Throws usage_error for what isn't hexadecimal.
  key read(std::size_t index) const;
  std::size_t size() const { return given_.size(); }

 private:
  std::vector<std::string> given_;
  bool hex_ = false;
  bool has_keys_ = false;
};

}  // namespace ring_tool
