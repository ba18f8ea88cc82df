// The keys that a node holds and how it uses them.
#pragma once

#include <cstdint>
#include <lifering/error.hpp>
#include <lifering/keyring.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/published.hpp"
#include "wire/key_file.hpp"
#include "wire/secret_key.hpp"

namespace lifering::wire {

using lifering::seal_mode;

/// One state of a keyring: never changed, only replaced.
struct sealing {
  seal_mode mode = seal_mode::off;
  std::vector<key_ptr> keys;  ///< The first seals, every one opens.

  bool seals() const noexcept { return mode != seal_mode::off; }
};

/// Changed by one thread and read by others without seeing half of a change. Safe from any thread.
///
/// To rotate a key: add() the new one on every node, then use() it on every node, then remove() the
/// old one on every node.
class keyring {
 public:
  /// Without keys the mode must be `off`; at most `keys_max` keys, all different.
  explicit keyring(seal_mode mode = seal_mode::off, std::vector<key_ptr> keys = {});

  // Changes. On a problem, which speaks of keys by their ids, nothing changed.

  /// Opens with this key too; it seals only if it is the first.
  std::optional<problem> add(key_ptr key);
  /// The same for those of several keys that aren't held: all or none.
  std::optional<problem> add_missing(std::vector<key_ptr> keys);
  /// Seals with this key from now on.
  std::optional<problem> use(std::string_view id);
  /// Forgets a key that doesn't seal, or the last one when nothing is sealed.
  std::optional<problem> remove(std::string_view id);
  std::optional<problem> set_mode(seal_mode mode);

  std::shared_ptr<const sealing> snapshot() const { return state_.load(); }

 private:
  template <class Change>
  std::optional<problem> change(Change change);

  base::published<sealing> state_;
};

}  // namespace lifering::wire
