#include "tools/ringlab/schemes/ketama.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/check.h"

namespace ringkv::ringlab {
namespace {

// Fetched once: that costs more than hashing a short key.
struct Md5 {
  EVP_MD* method = EVP_MD_fetch(nullptr, "MD5", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  Md5() { CHECK(method != nullptr && context != nullptr); }
  ~Md5() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(method);
  }
  Md5(const Md5&) = delete;
  Md5& operator=(const Md5&) = delete;
};

}  // namespace

std::array<uint32_t, 4> md5_words(std::string_view bytes) {
  thread_local const Md5 md5;
  std::array<uint8_t, 16> digest{};
  CHECK(EVP_DigestInit_ex2(md5.context, md5.method, nullptr) == 1);
  CHECK(EVP_DigestUpdate(md5.context, bytes.data(), bytes.size()) == 1);
  CHECK(EVP_DigestFinal_ex(md5.context, digest.data(), nullptr) == 1);
  std::array<uint32_t, 4> words{};
  for (size_t i = 0; i < digest.size(); ++i) words[i / 4] |= uint32_t{digest[i]} << (8 * (i % 4));
  return words;
}

Status Ketama::become(const std::vector<LabNode>& nodes) {
  points_.clear();
  for (const LabNode& node : nodes) {
    const auto digests = std::max<int64_t>(1, std::llround(kDigestsPerServer * node.weight));
    for (int64_t i = 0; i < digests; ++i) {
      for (const uint32_t place : md5_words(node.name + "-" + std::to_string(i)))
        points_.push_back({place, node.number});
    }
  }
  std::sort(points_.begin(), points_.end());
  return {};
}

std::vector<uint32_t> Ketama::owners(const KeySet& keys) const {
  std::vector<uint32_t> owners;
  owners.reserve(keys.size());
  for (const std::string& key : keys.names) {
    const auto found = std::lower_bound(points_.begin(), points_.end(), Point{.place = md5_words(key)[0]});
    owners.push_back(found == points_.end() ? points_.front().node : found->node);
  }
  return owners;
}

}  // namespace ringkv::ringlab
