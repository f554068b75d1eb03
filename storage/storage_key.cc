#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr size_t kTokenBytes = 8;

void append_token(Token token, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(token >> shift & 0xFF));
}

}  // namespace

std::string storage_key(Token token, std::string_view bucket, std::string_view key) {
  std::string bytes;
  bytes.reserve(kTokenBytes + bucket.size() + 1 + key.size());
  append_token(token, bytes);
  bytes.append(bucket);
  bytes.push_back('\0');
  bytes.append(key);
  return bytes;
}

std::optional<StorageKeyParts> parse_storage_key(std::string_view bytes) {
  if (bytes.size() < kTokenBytes + 1) return std::nullopt;
  StorageKeyParts parts;
  for (size_t i = 0; i < kTokenBytes; ++i) parts.token = parts.token << 8 | static_cast<uint8_t>(bytes[i]);
  const size_t zero = bytes.find('\0', kTokenBytes);
  if (zero == std::string_view::npos) return std::nullopt;
  parts.bucket = bytes.substr(kTokenBytes, zero - kTokenBytes);
  parts.key = bytes.substr(zero + 1);
  return parts;
}

std::string first_storage_key(Partition partition, uint32_t partitions) {
  std::string bytes;
  append_token(first_token_of(partition, partitions), bytes);
  return bytes;
}

std::string end_storage_key(Partition partition, uint32_t partitions) {
  return partition + 1 == partitions ? "" : first_storage_key(partition + 1, partitions);
}

StorageKeyRange storage_key_range(Partition first, Partition last, uint32_t partitions) {
  StorageKeyRange range{first_storage_key(first, partitions), end_storage_key(last, partitions)};
  // Above any storage key: behind its token no bucket's name begins like that.
  if (range.upper.empty()) range.upper.assign(kTokenBytes + 1, '\xff');
  return range;
}

}  // namespace ringkv
