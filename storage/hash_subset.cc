#include "storage/hash_subset.h"

#include <bit>
#include <vector>

#include "base/check.h"

namespace ringkv {
namespace {

// The XOR of some hashes, and which.
struct Row {
  Hash128 value;
  uint64_t members = 0;
  int top = 0;  // highest bit of the value
};

int top_bit(const Hash128& value) {
  if (value.high != 0) return 127 - std::countl_zero(value.high);
  return 63 - std::countl_zero(value.low);  // -1: zero
}

bool has_bit(const Hash128& value, int bit) {
  return ((bit < 64 ? value.low >> bit : value.high >> (bit - 64)) & 1) != 0;
}

// Rows in the order they were made: each has no bit at the top of an earlier one.
void reduce(Row& row, const std::vector<Row>& rows) {
  for (const Row& other : rows) {
    if (!has_bit(row.value, other.top)) continue;
    row.value ^= other.value;
    row.members ^= other.members;
  }
}

}  // namespace

std::optional<uint64_t> subset_with_xor(std::span<const Hash128> hashes, Hash128 sum) {
  CHECK(hashes.size() <= kSubsetMax);
  std::vector<Row> rows;
  rows.reserve(hashes.size());
  for (size_t i = 0; i < hashes.size(); ++i) {
    Row row{.value = hashes[i], .members = uint64_t{1} << i};
    reduce(row, rows);
    row.top = top_bit(row.value);
    if (row.top >= 0) rows.push_back(row);
  }
  Row wanted{.value = sum};
  reduce(wanted, rows);
  if (wanted.value != Hash128()) return std::nullopt;
  return wanted.members;
}

}  // namespace ringkv
