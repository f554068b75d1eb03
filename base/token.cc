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
class Sha1 {
 public:
  Sha1() : method_(EVP_MD_fetch(nullptr, "SHA1", nullptr)), context_(EVP_MD_CTX_new()) {
    CHECK(method_ != nullptr && context_ != nullptr);
  }
  ~Sha1() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(method_);
  }
  Sha1(const Sha1&) = delete;
  Sha1& operator=(const Sha1&) = delete;

  void begin() { CHECK(EVP_DigestInit_ex2(context_, method_, nullptr) == 1); }
  void add(std::string_view bytes) { CHECK(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1); }
  KeyDigest end() {
    KeyDigest digest;
    unsigned length = 0;
    CHECK(EVP_DigestFinal_ex(context_, digest.sha1.data(), &length) == 1 && length == digest.sha1.size());
    return digest;
  }

 private:
  EVP_MD* method_;
  EVP_MD_CTX* context_;
};

Sha1& this_threads_sha1() {
  thread_local Sha1 sha1;
  return sha1;
}

}  // namespace

KeyDigest digest_of(std::string_view bucket, std::string_view key) {
  Sha1& sha1 = this_threads_sha1();
  sha1.begin();
  if (!bucket.empty()) {
    sha1.add(bucket);
    sha1.add(std::string_view("\0", 1));
  }
  sha1.add(key);
  return sha1.end();
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

size_t std::hash<ringkv::KeyDigest>::operator()(const ringkv::KeyDigest& digest) const noexcept {
  size_t hash = 0;
  std::memcpy(&hash, digest.sha1.data() + 8,
              sizeof hash);  // the token's bytes may be cut short; these aren't
  return hash;
}
