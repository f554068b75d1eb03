#include "node/system_random.h"

#include <gtest/gtest.h>

#include <set>

namespace ringkv {
namespace {

TEST(SystemRandom, DrawsDiffer) {
  SystemRandom one, other;
  std::set<uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert({one.next(), other.next()});
  EXPECT_EQ(drawn.size(), 2000U);
}

}  // namespace
}  // namespace ringkv
