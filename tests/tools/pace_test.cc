#include "tools/kvbench/pace.h"

#include <gtest/gtest.h>

namespace ringkv::tools {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr Pace::TimePoint kStart{std::chrono::hours(1)};

TEST(Pace, RequestsStartAtEvenDistances) {
  const Pace pace(1000, kStart);

  EXPECT_EQ(pace.due(0), kStart);
  EXPECT_EQ(pace.due(1), kStart + microseconds(1000));
  EXPECT_EQ(pace.due(2500), kStart + microseconds(2'500'000));
}

TEST(Pace, NoErrorAddsUp) {
  const Pace pace(3, kStart);

  EXPECT_EQ(pace.due(3'000'000), kStart + std::chrono::seconds(1'000'000));
}

TEST(Pace, SendersTakeTurns) {
  const Pace first(1000, kStart, 2, 0);
  const Pace second(1000, kStart, 2, 1);

  EXPECT_EQ(first.due(1), kStart + microseconds(2000));
  EXPECT_EQ(second.due(0), kStart + microseconds(1000));
  EXPECT_EQ(second.due(1), kStart + microseconds(3000));
}

TEST(Pace, LessThanOneASecondIsFine) {
  EXPECT_EQ(Pace(0.5, kStart).due(1), kStart + std::chrono::seconds(2));
}

}  // namespace
}  // namespace ringkv::tools
