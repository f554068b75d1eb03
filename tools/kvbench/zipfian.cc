#include "tools/kvbench/zipfian.h"

#include <algorithm>
#include <cmath>

namespace ringkv::tools {
namespace {

// Beyond these the sum is an integral and a correction (Euler and Maclaurin), to about 1e-9: so its cost
// doesn't grow with the keys, nor with each key that is added.
constexpr uint64_t kSummedMax = 10'000;

double power(double item) { return std::pow(item, -kZipfianTheta); }

double sum(uint64_t items) {
  double sum = 0;
  for (uint64_t item = 1; item <= items; ++item) sum += power(static_cast<double>(item));
  return sum;
}

}  // namespace

double zeta(uint64_t items) {
  static const double kSummed = sum(kSummedMax);
  if (items <= kSummedMax) return sum(items);
  constexpr double kExponent = 1 - kZipfianTheta;
  const auto first = static_cast<double>(kSummedMax);
  const auto last = static_cast<double>(items);
  return kSummed + (std::pow(last, kExponent) - std::pow(first, kExponent)) / kExponent +
         (power(last) - power(first)) / 2;
}

ZipfianRanks::ZipfianRanks(uint64_t items)
    : items_(items),
      zeta_(zeta(items)),
      eta_((1 - std::pow(2.0 / static_cast<double>(items), 1 - kZipfianTheta)) / (1 - zeta(2) / zeta_)) {}

uint64_t ZipfianRanks::rank(double unit) const {
  if (items_ == 1) return 0;
  const double share = unit * zeta_;
  if (share < 1) return 0;
  if (items_ == 2 || share < 1 + power(2)) return 1;
  const double rank = static_cast<double>(items_) * std::pow(eta_ * unit - eta_ + 1, 1 / (1 - kZipfianTheta));
  return std::min(static_cast<uint64_t>(rank), items_ - 1);
}

}  // namespace ringkv::tools
