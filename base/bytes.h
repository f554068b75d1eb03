// Bytes written and read in our own formats: little-endian fixed numbers, LEB128 varints, strings with their
// length in front. A reader never reads past its end and never trusts a length: after the first wrong field
// everything reads as zero and ok() is false.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace ringkv {

static_assert(std::endian::native == std::endian::little, "formats are written as they lie in memory");

// Appends to a string that it borrows.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void u8(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void u32(uint32_t value) { raw(&value, sizeof value); }
  void u64(uint64_t value) { raw(&value, sizeof value); }
  void f64(double value) { u64(std::bit_cast<uint64_t>(value)); }
  void varint(uint64_t value) {
    while (value >= 0x80) {
      u8(static_cast<uint8_t>(value | 0x80));
      value >>= 7;
    }
    u8(static_cast<uint8_t>(value));
  }
  void bytes(std::string_view value) { out_.append(value); }  // no length
  void string(std::string_view value) {                       // length, then bytes
    varint(value.size());
    bytes(value);
  }

 private:
  void raw(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }

  std::string& out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}

  uint8_t u8() { return fixed<uint8_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }
  double f64() { return std::bit_cast<double>(u64()); }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = u8();
      if (!ok_) return 0;
      const uint64_t bits = byte & 0x7F;
      if (shift == 63 && bits > 1) break;  // more than 64 bits
      value |= bits << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail(), 0;
  }
  std::string_view bytes(size_t size) {
    if (size > in_.size()) return fail(), std::string_view();
    std::string_view value = in_.substr(0, size);
    in_.remove_prefix(size);
    return value;
  }
  std::string_view string(size_t size_max) {
    const uint64_t size = varint();
    if (size > size_max) return fail(), std::string_view();
    return bytes(size);
  }
  // How many items follow, where each takes at least `item_bytes_min` bytes: a count that can't be true
  // fails.
  size_t count(size_t item_bytes_min) {
    const uint64_t items = varint();
    if (items > in_.size() / item_bytes_min) return fail(), 0;
    return items;
  }

  std::string_view rest() const { return in_; }
  bool at_end() const { return in_.empty(); }
  bool ok() const { return ok_; }
  bool finished() const { return ok_ && at_end(); }  // read to the end, nothing wrong
  void fail() {
    ok_ = false;
    in_ = {};
  }

 private:
  template <class T>
  T fixed() {
    T value{};
    if (in_.size() < sizeof value) return fail(), T{};
    std::memcpy(&value, in_.data(), sizeof value);
    in_.remove_prefix(sizeof value);
    return value;
  }

  std::string_view in_;
  bool ok_ = true;
};

}  // namespace ringkv
