// Ranks of a Zipf distribution: rank i comes up in proportion to 1 / (i + 1)^0.99.
//
// Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), which YCSB uses too:
// ranks 0 and 1 are exact, the others come from the inverse of a continuous function.
#pragma once

#include <cstdint>

namespace ringkv::tools {

inline constexpr double kZipfianTheta = 0.99;

// The sum of 1 / i^0.99 for i = 1 … items.
double zeta(uint64_t items);

class ZipfianRanks {
 public:
  explicit ZipfianRanks(uint64_t items);  // at least 1

  // For a random number in [0, 1); below `items`.
  uint64_t rank(double unit) const;
  uint64_t items() const { return items_; }

 private:
  uint64_t items_;
  double zeta_;
  double eta_;
};

}  // namespace ringkv::tools
