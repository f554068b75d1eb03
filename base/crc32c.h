// CRC-32C (Castagnoli), as in RFC 3720: finds damage by accident in client contexts and network frames; no
// protection against intent.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringkv {

// Of several pieces: crc32c(b, crc32c(a)) == crc32c(ab). Uses the processor's own instruction where it has
// one.
uint32_t crc32c(std::string_view bytes, uint32_t start = 0);

// The same on every processor, six to ten times as slow.
uint32_t crc32c_by_table(std::string_view bytes, uint32_t start = 0);

}  // namespace ringkv
