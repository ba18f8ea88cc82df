// Taking and printing keys.
#include "keys.hpp"

#include "text.hpp"

namespace ring_tool {

void key_list::take_word(arguments& args) {
  given_.push_back(args.value());
  has_keys_ = true;
}

bool key_list::take_flag(arguments& args) {
  if (args.flag() == "--keys-file") {
    for (std::string& line : read_lines(args.value())) {
      given_.push_back(std::move(line));
    }
    has_keys_ = true;
  } else if (args.flag() == "--hex") {
    hex_ = true;
  } else {
    return false;
  }
  return true;
}

void key_list::check() const {
  if (!has_keys_) {
    throw usage_error("no keys are given; name some, or use --keys-file FILE");
  }
  for (std::size_t i = 0; hex_ && i < given_.size(); ++i) {
    read(i);
  }
}

key_list::key key_list::read(std::size_t index) const {
  const std::string& given = given_[index];
  if (!hex_) {
    return {given, escape(given)};
  }
  // A keys file of another system; in a key that isn't in hexadecimal the byte may be meant.
  const auto digits = std::string_view(given).substr(0, given.size() - given.ends_with('\r'));
  const auto bytes = from_hex(digits);
  if (!bytes) {
    throw usage_error("key \"" + escape(given) + "\" isn't pairs of hexadecimal digits");
  }
  return {*bytes, to_hex(*bytes)};
}

}  // namespace ring_tool
