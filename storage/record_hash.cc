#include "storage/record_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"

namespace ringkv {
namespace {

constexpr size_t kExpandedSecretBytes = 200;  // XXH3 wants at least 136, random-looking
constexpr size_t kKeyBytes = 20;
constexpr size_t kVersionBytes = 57;

// SHA-1 of the secret and a running number. XXH3_generateSecret would do, but is outside xxHash's stable
// interface and gave other bytes in 0.8.0, and these hashes are stored.
std::string expand(std::string_view secret) {
  std::string expanded;
  for (uint8_t number = 0; expanded.size() < kExpandedSecretBytes; ++number) {
    std::string block(secret);
    block.push_back(static_cast<char>(number));
    const KeyDigest digest = sha1_of(block);
    expanded.append(digest.sha1.begin(), digest.sha1.end());
  }
  return expanded;
}

Hash128 keyed_hash(std::string_view bytes, const std::string& secret) {
  const XXH128_hash_t hash =
      XXH3_128bits_withSecret(bytes.data(), bytes.size(), secret.data(), secret.size());
  return {hash.low64, hash.high64};
}

}  // namespace

RecordHasher::RecordHasher(std::string_view secret) : expanded_secret_(expand(secret)) {}

// Hashed are, little-endian and without gaps: the key's SHA-1, then for each version in order of dot node,
// boot, counter (u64 each), kind (u8), time, expiry (u64 each), and the hash of the value (low, high). Of a
// bare context: the key's SHA-1, then in order each entry's node, boot and counter.
Hash128 RecordHasher::hash(const KeyDigest& key, const Record& record) const {
  const std::vector<VersionVector::Entry>& context = record.context.vector.entries();
  const bool is_bare = record.versions.empty();
  if (is_bare && context.empty()) return {};
  std::string canonical;
  canonical.reserve(kKeyBytes + kVersionBytes * (is_bare ? context.size() : record.versions.size()));
  canonical.append(key.sha1.begin(), key.sha1.end());
  ByteWriter writer(canonical);
  for (size_t i = 0; is_bare && i < context.size(); ++i) {
    writer.u64(context[i].actor.node.value);
    writer.u64(context[i].actor.boot.value);
    writer.u64(context[i].counter);
  }
  for (const Version& version : record.versions) {
    const Hash128 value = keyed_hash(version.value, expanded_secret_);
    writer.u64(version.dot.actor.node.value);
    writer.u64(version.dot.actor.boot.value);
    writer.u64(version.dot.counter);
    writer.u8(static_cast<uint8_t>(version.kind));
    writer.u64(version.time);
    writer.u64(version.expires_at_ms);
    writer.u64(value.low);
    writer.u64(value.high);
  }
  return keyed_hash(canonical, expanded_secret_);
}

uint64_t content_bytes(std::string_view key, const Record& record) {
  uint64_t bytes = 0;
  bool has_value = false;
  for (const Version& version : record.versions) {
    has_value = has_value || version.kind == VersionKind::kValue;
    bytes += version.value.size();
  }
  return has_value ? key.size() + bytes : 0;
}

}  // namespace ringkv
