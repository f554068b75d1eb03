// RocksDB's log ("Write Ahead Log File Format" in its wiki) is blocks of 32 KiB. No record crosses a block:
// larger ones are cut into fragments, and up to 6 bytes at the end of a block stay unused.
//
//   u32 masked CRC-32C of type and payload | u16 length | u8 type (full, first, middle, last) | payload
#include "storage/rocksdb_log.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace ringkv {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;
enum RecordType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    table[i] = crc;
  }
  return table;
}

uint32_t masked_crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> table = crc_table();
  uint32_t crc = ~0U;
  for (const char byte : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<uint8_t>(byte)) & 0xFF];
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

enum class Shape { kIntact, kUnusedEnd, kZeros, kTruncated, kDamaged };

struct PhysicalRecord {
  Shape shape;
  uint8_t type = 0;
  size_t bytes = 0;
};

bool all_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

// What stands at `at` in a block; only the last block of a file may be short.
PhysicalRecord record_at(std::string_view block, size_t at) {
  const bool last_block = block.size() < kBlockBytes;
  const std::string_view rest = block.substr(at);
  if (kBlockBytes - at < kHeaderBytes) return {Shape::kUnusedEnd};
  if (rest.size() < kHeaderBytes) return {Shape::kTruncated};
  if (all_zero(rest)) return {Shape::kZeros};  // room that was allocated and never written

  uint32_t crc;
  uint16_t length;
  std::memcpy(&crc, rest.data(), sizeof crc);
  std::memcpy(&length, rest.data() + 4, sizeof length);
  const auto type = static_cast<uint8_t>(rest[6]);
  if (type < kFull || type > kLast || at + kHeaderBytes + length > kBlockBytes) return {Shape::kDamaged};
  if (kHeaderBytes + length > rest.size()) {
    // A record that is all there, but for its length, wasn't torn.
    const bool complete = masked_crc32c(rest.substr(6)) == crc;
    return {last_block && !complete ? Shape::kTruncated : Shape::kDamaged};
  }
  if (masked_crc32c(rest.substr(6, 1 + length)) != crc) return {Shape::kDamaged};
  return {Shape::kIntact, type, kHeaderBytes + length};
}

bool holds_intact_record(std::string_view block, size_t from) {
  for (size_t at = from; at + kHeaderBytes <= block.size(); ++at) {
    if (record_at(block, at).shape == Shape::kIntact) return true;
  }
  return false;
}

struct Fault {
  Shape shape = Shape::kIntact;  // kIntact: none
  uint64_t offset = 0;
};

// The first fault of one log file.
Fault first_fault(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {Shape::kDamaged, 0};
  std::string buffer(kBlockBytes, '\0');
  bool in_fragments = false;
  std::optional<uint64_t> zeros_from;
  uint64_t block_offset = 0;
  while (true) {
    file.read(buffer.data(), kBlockBytes);
    const std::string_view block(buffer.data(), static_cast<size_t>(file.gcount()));
    if (zeros_from && !all_zero(block)) return {Shape::kDamaged, *zeros_from};
    for (size_t at = 0; at < block.size() && !zeros_from;) {
      const PhysicalRecord record = record_at(block, at);
      if (record.shape == Shape::kUnusedEnd) break;
      if (record.shape == Shape::kZeros) {
        zeros_from = block_offset + at;
        break;
      }
      const bool continues = record.type == kMiddle || record.type == kLast;
      if (record.shape == Shape::kTruncated && holds_intact_record(block, at + 1)) {
        return {Shape::kDamaged, block_offset + at};
      }
      if (record.shape != Shape::kIntact) return {record.shape, block_offset + at};
      if (continues != in_fragments) return {Shape::kDamaged, block_offset + at};
      in_fragments = record.type == kFirst || record.type == kMiddle;
      at += record.bytes;
    }
    block_offset += block.size();
    if (block.size() < kBlockBytes) break;
  }
  if (in_fragments) return {Shape::kTruncated, block_offset};
  return {};
}

std::vector<std::pair<uint64_t, fs::path>> logs_in_order(const fs::path& directory) {
  std::vector<std::pair<uint64_t, fs::path>> logs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".log" || entry.file_size(error) == 0) continue;
    logs.emplace_back(std::strtoull(entry.path().stem().c_str(), nullptr, 10), entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

}  // namespace

JudgedLogs judge_logs(const fs::path& directory) {
  const auto logs = logs_in_order(directory);
  for (const auto& [number, path] : logs) {
    const Fault fault = first_fault(path);
    if (fault.shape == Shape::kIntact) continue;
    const bool newest = path == logs.back().second;
    if (fault.shape == Shape::kTruncated && newest) return {LogVerdict::kTorn, ""};
    std::error_code error;
    return {LogVerdict::kDamaged,
            cat("log ", path.string(), " is ",
                fault.shape == Shape::kTruncated ? "cut off, though a later log exists, at" : "damaged at",
                " byte ", fault.offset, " of ", fs::file_size(path, error),
                "; what was written after it was dropped")};
  }
  return {};
}

}  // namespace ringkv
