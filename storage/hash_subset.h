// Which records of a leaf another node lacks, told by nothing but the hash of its leaf. A leaf's hash is the
// XOR of its records' hashes: so the XOR of both leaves' hashes is that of the records that are in one of
// them only, and where the other lacks some and has nothing else, these are the one subset of the own records
// with that XOR. It is found as the solution of linear equations over GF(2), 128 of them. That some other
// subset of n random hashes has the same XOR has a chance of 2^(n - 128).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "storage/record_hash.h"

namespace ringkv {

inline constexpr size_t kSubsetMax = 64;

// Bit i stands for hashes[i], at most kSubsetMax of them. Nothing: no subset has this XOR. Where several
// have, one of them.
std::optional<uint64_t> subset_with_xor(std::span<const Hash128> hashes, Hash128 sum);

}  // namespace ringkv
