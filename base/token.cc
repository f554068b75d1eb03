#include "base/token.h"

#include <openssl/evp.h>

#include <bit>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "ringkv/token.h"

namespace ringkv {
namespace {

// Fetching the algorithm costs three times as much as hashing a short key, so each thread keeps it.
template <size_t Bytes>
class Hasher {
 public:
  explicit Hasher(const char* name)
      : method_(EVP_MD_fetch(nullptr, name, nullptr)), context_(EVP_MD_CTX_new()) {
    CHECK(method_ != nullptr && context_ != nullptr);
  }
  ~Hasher() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(method_);
  }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void begin() { CHECK(EVP_DigestInit_ex2(context_, method_, nullptr) == 1); }
  void add(std::string_view bytes) { CHECK(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1); }
  std::array<uint8_t, Bytes> end() {
    std::array<uint8_t, Bytes> digest;
    unsigned length = 0;
    CHECK(EVP_DigestFinal_ex(context_, digest.data(), &length) == 1 && length == digest.size());
    return digest;
  }

 private:
  EVP_MD* method_;
  EVP_MD_CTX* context_;
};

Hasher<20>& this_threads_sha1() {
  thread_local Hasher<20> sha1("SHA1");
  return sha1;
}

Hasher<32>& this_threads_sha256() {
  thread_local Hasher<32> sha256("SHA256");
  return sha256;
}

}  // namespace

KeyDigest digest_of(std::string_view bucket, std::string_view key) {
  Hasher<20>& sha1 = this_threads_sha1();
  sha1.begin();
  if (!bucket.empty()) {
    sha1.add(bucket);
    sha1.add(std::string_view("\0", 1));
  }
  sha1.add(key);
  return {sha1.end()};
}

KeyIdentity identity_of(std::string_view bucket, std::string_view key) {
  Hasher<32>& sha256 = this_threads_sha256();
  sha256.begin();
  const char bucket_bytes = static_cast<char>(bucket.size());  // names have at most 64
  sha256.add(std::string_view(&bucket_bytes, 1));
  sha256.add(bucket);
  sha256.add(key);
  const std::array<uint8_t, 32> digest = sha256.end();
  KeyIdentity identity;
  std::memcpy(identity.bytes.data(), digest.data(), identity.bytes.size());
  return identity;
}

KeyDigest sha1_of(std::string_view bytes) { return digest_of({}, bytes); }

Token token_of(const KeyDigest& digest) {
  uint64_t token = 0;
  for (int i = 0; i < 8; ++i) token = token << 8 | digest.sha1[static_cast<size_t>(i)];
  return token;
}

uint64_t token_of_key(std::string_view key, std::string_view bucket) {
  return token_of(digest_of(bucket, key));
}

Partition partition_of(Token token, uint32_t partitions) {
  if (partitions == 1) return 0;
  return static_cast<Partition>(token >> (64 - std::countr_zero(partitions)));
}

Token first_token_of(Partition partition, uint32_t partitions) {
  if (partitions == 1) return 0;
  return static_cast<Token>(partition) << (64 - std::countr_zero(partitions));
}

}  // namespace ringkv

size_t std::hash<ringkv::KeyIdentity>::operator()(const ringkv::KeyIdentity& identity) const noexcept {
  size_t hash = 0;
  std::memcpy(&hash, identity.bytes.data(), sizeof hash);
  return hash;
}
