// Bytes as people read and type them: in messages, logs, JSON and on command lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringkv {

std::string hex(uint64_t value);                            // 16 lower-case digits
std::optional<uint64_t> from_hex(std::string_view digits);  // 1 to 16 digits

// Bytes outside printable ASCII, and the backslash, as \xHH.
std::string escaped(std::string_view bytes);

// A key for an error message: quoted, escaped, cut after 64 bytes.
std::string display_key(std::string_view key);

std::string base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

// "64 MiB", "1.5 GiB": exact units of 1024.
std::string human_bytes(uint64_t bytes);

// The candidate that `word` was probably meant to be, or nothing when none is near (edit distance <= 1/3 +
// 1).
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ringkv
