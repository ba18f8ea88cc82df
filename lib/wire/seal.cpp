#include "wire/seal.hpp"

#include <sodium.h>

#include <algorithm>

#include "base/check.hpp"

namespace lifering::wire {

static_assert(nonce_size == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
static_assert(tag_size == crypto_aead_xchacha20poly1305_ietf_ABYTES);

seal_nonce random_nonce() {
  seal_nonce nonce;
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

void seal_payload(const secret_key& key, const seal_nonce& nonce, bytes_view header,
                  std::span<std::uint8_t> payload) {
  LIFERING_CHECK(payload.size() >= seal_size);
  std::copy(nonce.begin(), nonce.end(), payload.begin());
  const auto body = payload.subspan(nonce_size, payload.size() - seal_size);
  // Encrypting onto itself is what the stream cipher beneath allows.
  crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
      body.data(), body.data() + body.size(), nullptr, body.data(), body.size(), header.data(),
      header.size(), nullptr, nonce.data(), key.data());
}

bool open_payload(const sealing& with, bytes_view header, bytes_view payload,
                  std::vector<std::uint8_t>& body) {
  if (payload.size() < seal_size) return false;
  const auto nonce = payload.first(nonce_size);
  const auto sealed = payload.subspan(nonce_size, payload.size() - seal_size);
  const auto tag = payload.last(tag_size);
  body.resize(sealed.size());
  return std::any_of(with.keys.begin(), with.keys.end(), [&](const key_ptr& key) {
    return crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
               body.data(), nullptr, sealed.data(), sealed.size(), tag.data(), header.data(),
               header.size(), nonce.data(), key->data()) == 0;
  });
}

}  // namespace lifering::wire
