#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace ringkv {
namespace {

constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kDisplayedBytesMax = 64;

// The value of each character of the alphabet; -1 for all others.
constexpr std::array<int8_t, 256> base64_digits() {
  std::array<int8_t, 256> digits{};
  for (int8_t& digit : digits) digit = -1;
  for (size_t i = 0; i < kBase64Alphabet.size(); ++i)
    digits[static_cast<uint8_t>(kBase64Alphabet[i])] = static_cast<int8_t>(i);
  return digits;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string hex(uint64_t value) {
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); value != 0; ++digit, value >>= 4)
    *digit = "0123456789abcdef"[value & 15];
  return digits;
}

std::optional<uint64_t> from_hex(std::string_view digits) {
  if (digits.empty() || digits.size() > 16) return std::nullopt;
  uint64_t value = 0;
  for (const char c : digits) {
    const bool decimal = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!decimal && !letter) return std::nullopt;
    value = value << 4 | static_cast<uint64_t>(decimal ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

std::string escaped(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '\\') {
      text.push_back(c);
    } else {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 0xF]};
    }
  }
  return text;
}

std::string display_key(std::string_view key) {
  if (key.size() <= kDisplayedBytesMax) return "'" + escaped(key) + "'";
  return "'" + escaped(key.substr(0, kDisplayedBytesMax)) + "…' (" + std::to_string(key.size()) + " bytes)";
}

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < left ? static_cast<uint8_t>(bytes[i + j]) : 0U);
    for (size_t j = 0; j < 4; ++j)
      text.push_back(j <= left ? kBase64Alphabet[group >> (18 - 6 * j) & 0x3F] : '=');
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  static constexpr std::array<int8_t, 256> kDigits = base64_digits();
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t group = 0;
    size_t padding = 0;
    for (size_t j = 0; j < 4; ++j) {
      const char c = text[i + j];
      if (c == '=') {
        if (j < 2 || i + 4 != text.size()) return std::nullopt;
        ++padding;
        group <<= 6;
        continue;
      }
      const int8_t digit = kDigits[static_cast<uint8_t>(c)];
      if (padding > 0 || digit < 0) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(digit);
    }
    for (size_t j = 0; j < 3 - padding; ++j) bytes.push_back(static_cast<char>(group >> (16 - 8 * j)));
  }
  return bytes;
}

std::string human_bytes(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  const bool whole = value == static_cast<double>(static_cast<uint64_t>(value));
  std::snprintf(text.data(), text.size(), whole ? "%.0f %s" : "%.1f %s", value, kUnits.at(unit));
  return text.data();
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  size_t best_distance = word.size() / 3 + 2;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace ringkv
