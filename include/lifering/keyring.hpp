// The keys of a cluster, and whether its packets are sealed with them.
//
//     auto keys = std::make_shared<lifering::keyring>();
//     throw_if(keys->add_file("/etc/shop/lifering.keys"));
//     throw_if(keys->set_mode(lifering::seal_mode::require));
//     options.keys = keys;
//
// Everything that a member sends is then sealed by XChaCha20-Poly1305 with one shared key: nobody
// without a key can read it, forge it, change it or send it again. What the seal doesn't promise:
// which of the key's holders made a packet; that lengths, times, addresses and the cluster id are
// secret; that yesterday's packets stay so once a key is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/config.hpp>
#include <lifering/error.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lifering {

namespace wire {
class keyring;
}

/// What is sent and what is taken. A running cluster goes from one to the next node by node, in
/// this order or back, once all nodes have the key; neighbours understand each other.
enum class seal_mode : std::uint8_t {
  off,      ///< Sends plain; takes plain, and sealed if a key opens it.
  accept,   ///< Sends sealed; takes both. Protects nothing yet: a step on the way.
  require,  ///< Sends sealed; takes sealed only.
};

LIFERING_API std::string_view to_string(seal_mode mode) noexcept;

/// Reads `off`, `accept` or `require`.
LIFERING_API std::optional<seal_mode> parse_seal_mode(std::string_view text) noexcept;

/// The keys that a member holds and how it uses them. Given to `options::keys`, and changed at any
/// time, before the start and while the member runs: a change holds from the next packet on, and no
/// packet meets half of one. Safe from any thread; changes take a mutex for as long as they last,
/// which is microseconds, but for add_file(), which reads a file.
///
/// To rotate a key, so that no packet is lost: add() the new one on every node, then use() it on
/// every node, then remove() the old one on every node.
///
/// Keys live in memory that is kept out of core dumps and, where the system allows it, out of swap,
/// and are wiped when the last holder goes. Nothing prints them. People, logs and problems speak of
/// a key by its id, 16 hexadecimal digits that tell nothing of the key.
class LIFERING_API keyring {
 public:
  /// Keys held at once. A sealed packet is tried with each of them, so their number bounds what a
  /// stranger's packet costs.
  static constexpr std::size_t keys_max = 8;

  /// No keys, mode `off`.
  keyring();
  ~keyring();
  keyring(const keyring&) = delete;
  keyring& operator=(const keyring&) = delete;

  // Each of these says in one sentence why nothing changed, or nothing. throw_if() makes an
  // exception of it.

  /// One more key, as 64 hexadecimal digits or 44 characters of base64. It opens; it seals only if
  /// it is the first. The sentence doesn't repeat the text.
  [[nodiscard]] std::optional<problem> add(std::string_view key);

  /// The keys of a file that aren't held yet, all or none: one a line, in hexadecimal or base64;
  /// empty lines and lines that begin with `#` don't count. A file that anybody but its owner can
  /// read or write is refused, and so is one that belongs neither to this user nor to root.
  [[nodiscard]] std::optional<problem> add_file(const std::string& path);

  /// Seals with the key of this id from now on.
  [[nodiscard]] std::optional<problem> use(std::string_view id);

  /// Forgets a key that doesn't seal, or the last one in mode `off`.
  [[nodiscard]] std::optional<problem> remove(std::string_view id);

  /// Needs a key, but for `off`.
  [[nodiscard]] std::optional<problem> set_mode(seal_mode mode);

  seal_mode mode() const;

  /// The ids of the keys that are held; the first one's key seals.
  std::vector<std::string> ids() const;

 private:
  friend struct keyring_access;
  const std::shared_ptr<wire::keyring> inside_;
};

/// Characters of a key in base64.
inline constexpr std::size_t key_text_size = 44;

/// Writes a new key, drawn from the system's generator, in base64. wipe() the text when it has been
/// stored.
LIFERING_API void generate_key(std::span<char, key_text_size> text);

/// Overwrites a secret, which the compiler doesn't leave out.
LIFERING_API void wipe(std::span<char> secret) noexcept;

}  // namespace lifering
