#include "wire/secret_key.hpp"

#include <sodium.h>

#include <array>
#include <new>

#include "base/check.hpp"

namespace lifering::wire {
namespace {

constexpr int base64_variant = sodium_base64_VARIANT_ORIGINAL;
constexpr std::size_t hex_length = 2 * secret_key::size;
constexpr std::size_t base64_length = 44;

static_assert(secret_key::size == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
static_assert(sodium_base64_ENCODED_LEN(secret_key::size, base64_variant) == base64_length + 1);

}  // namespace

// sodium_free() overwrites what it gives back.
void secret_key::wipe::operator()(std::uint8_t* bytes) const noexcept {
  sodium_free(bytes);
}

secret_key::secret_key() {
  LIFERING_CHECK(sodium_init() >= 0);
  bytes_.reset(static_cast<std::uint8_t*>(sodium_malloc(size)));
  if (!bytes_) throw std::bad_alloc();
}

void secret_key::name() {
  std::array<std::uint8_t, crypto_generichash_BYTES_MIN> hash{};
  constexpr std::string_view purpose = "lifering key id";
  // The purpose is the key of the hash, so that this hash serves nowhere else.
  crypto_generichash(hash.data(), hash.size(), bytes_.get(), size,
                     reinterpret_cast<const std::uint8_t*>(purpose.data()), purpose.size());
  std::array<char, 17> digits{};
  sodium_bin2hex(digits.data(), digits.size(), hash.data(), 8);
  id_ = digits.data();
  sodium_mprotect_readonly(bytes_.get());
}

key_ptr secret_key::generate() {
  std::shared_ptr<secret_key> made(new secret_key);
  randombytes_buf(made->bytes_.get(), size);
  made->name();
  return made;
}

key_ptr secret_key::from_bytes(std::span<const std::uint8_t, size> bytes) {
  std::shared_ptr<secret_key> made(new secret_key);
  std::copy(bytes.begin(), bytes.end(), made->bytes_.get());
  made->name();
  return made;
}

key_ptr secret_key::from_text(std::string_view text) {
  std::shared_ptr<secret_key> made(new secret_key);
  std::size_t read = 0;
  int failed = -1;
  if (text.size() == hex_length) {
    failed =
        sodium_hex2bin(made->bytes_.get(), size, text.data(), text.size(), nullptr, &read, nullptr);
  } else if (text.size() == base64_length) {
    failed = sodium_base642bin(made->bytes_.get(), size, text.data(), text.size(), nullptr, &read,
                               nullptr, base64_variant);
  }
  if (failed != 0 || read != size) return nullptr;
  made->name();
  return made;
}

base::secret_text secret_key::to_text() const {
  base::secret_text text(base64_length + 1);
  sodium_bin2base64(text.data(), base64_length + 1, bytes_.get(), size, base64_variant);
  text.shrink(base64_length);
  return text;
}

}  // namespace lifering::wire
