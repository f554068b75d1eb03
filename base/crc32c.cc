#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace ringkv {
namespace {

static_assert(std::endian::native == std::endian::little, "eight bytes are taken as one number");

constexpr uint32_t kPolynomial = 0x82F63B78;  // bit-reversed

// kTables[n][b]: what byte b does to the remainder when n more bytes follow in the same step ("slicing by 8",
// Kounavis and Berry, 2005).
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = remainder;
  }
  for (size_t n = 1; n < tables.size(); ++n) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[n - 1][byte];
      tables[n][byte] = before >> 8 ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

uint64_t load_eight(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc32c_by_instruction(std::string_view bytes, uint32_t start) {
  uint64_t remainder = ~start;
  while (bytes.size() >= 8) {
    remainder = _mm_crc32_u64(remainder, load_eight(bytes.data()));
    bytes.remove_prefix(8);
  }
  auto last = static_cast<uint32_t>(remainder);
  for (const char byte : bytes) last = _mm_crc32_u8(last, static_cast<uint8_t>(byte));
  return ~last;
}
#endif

}  // namespace

uint32_t crc32c_by_table(std::string_view bytes, uint32_t start) {
  uint32_t remainder = ~start;
  while (bytes.size() >= 8) {
    uint64_t word = load_eight(bytes.data()) ^ remainder;
    remainder = 0;
    for (size_t n = 8; n-- > 0; word >>= 8) remainder ^= kTables[n][word & 0xFF];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) {
    remainder = remainder >> 8 ^ kTables[0][(remainder ^ static_cast<uint8_t>(byte)) & 0xFF];
  }
  return ~remainder;
}

uint32_t crc32c(std::string_view bytes, uint32_t start) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction(bytes, start);
#endif
  return crc32c_by_table(bytes, start);
}

}  // namespace ringkv
