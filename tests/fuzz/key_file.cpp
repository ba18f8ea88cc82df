// Any text as a key file: read or refused in words, and never quoted.
#include "wire/key_file.hpp"

#include <string>

#include "fuzz/fuzz_target.hpp"

namespace lifering::fuzz {

void run(bytes_view input) {
  std::vector<wire::key_ptr> keys;
  const auto found = wire::parse_keys("f", as_text(input), keys);
  LIFERING_CHECK(found.has_value() == keys.empty());
  LIFERING_CHECK(keys.size() <= wire::keys_max);
  if (found) LIFERING_CHECK(found->text.starts_with("the key file \"f\" "));
  std::string again;
  for (const auto& key : keys)
    again += std::string(key->to_text().view()) + "\n";
  std::vector<wire::key_ptr> same;
  if (!keys.empty()) LIFERING_CHECK(!wire::parse_keys("f", again, same));
  LIFERING_CHECK(same.size() == keys.size());
  for (std::size_t i = 0; i < same.size(); ++i)
    LIFERING_CHECK(same[i]->id() == keys[i]->id());
}

}  // namespace lifering::fuzz
