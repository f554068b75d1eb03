#include "storage/hash_subset.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace ringkv {
namespace {

std::vector<Hash128> random_hashes(size_t count, SeededRandom& random) {
  std::vector<Hash128> hashes;
  while (hashes.size() < count) {
    const uint64_t low = random.next();
    hashes.push_back({low, random.next()});
  }
  return hashes;
}

Hash128 sum_of(const std::vector<Hash128>& hashes, uint64_t members) {
  Hash128 sum;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if ((members >> i & 1) != 0) sum ^= hashes[i];
  }
  return sum;
}

TEST(HashSubset, FindsEachSubset) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SeededRandom random(seed);
    const std::vector<Hash128> hashes = random_hashes(1 + random.below(kSubsetMax), random);
    const uint64_t mask = hashes.size() == 64 ? ~uint64_t{0} : (uint64_t{1} << hashes.size()) - 1;
    for (const uint64_t members : {random.next() & mask, uint64_t{0}, uint64_t{1}, mask}) {
      EXPECT_EQ(subset_with_xor(hashes, sum_of(hashes, members)), members) << seed;
    }
  }
}

TEST(HashSubset, FindsNoneWhereThereIsNone) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SeededRandom random(seed);
    const std::vector<Hash128> hashes = random_hashes(random.below(kSubsetMax + 1), random);
    EXPECT_FALSE(subset_with_xor(hashes, random_hashes(1, random).front()).has_value()) << seed;
  }
}

// Nothing random about them: then some subset is as good as another.
TEST(HashSubset, HashesThatAddUpToEachOtherDoNoHarm) {
  const std::vector<Hash128> hashes = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 0}, {0, 4}};
  for (uint64_t members = 0; members < 64; ++members) {
    const Hash128 sum = sum_of(hashes, members);
    const std::optional<uint64_t> found = subset_with_xor(hashes, sum);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(sum_of(hashes, *found), sum);
  }
  EXPECT_FALSE(subset_with_xor(hashes, {4, 0}).has_value());
  EXPECT_EQ(subset_with_xor({}, {}), 0U);
  EXPECT_FALSE(subset_with_xor({}, {1, 0}).has_value());
}

}  // namespace
}  // namespace ringkv
