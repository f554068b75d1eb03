#include "tools/simulation/calendar.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Time kStart{seconds(100)};

TEST(Calendar, AddsUpTheDaysThatWereLeaptOver) {
  Calendar calendar;
  calendar.leap(kStart, hours(24));
  calendar.leap(kStart + seconds(10), hours(48));
  EXPECT_EQ(calendar.date(kStart - seconds(1)), kStart - seconds(1));
  EXPECT_EQ(calendar.date(kStart + seconds(1)), kStart + seconds(1) + hours(24));
  EXPECT_EQ(calendar.date(kStart + seconds(10)), kStart + seconds(10) + hours(72));
}

TEST(Calendar, KnowsWhenSomebodyWasWrong) {
  Calendar calendar;
  EXPECT_FALSE(calendar.wrong_between(kStart, kStart + hours(1)));
  calendar.note_wrong(kStart, kStart + seconds(2));
  calendar.note_wrong(kStart + seconds(1), kStart + seconds(3));
  calendar.note_wrong(kStart + seconds(8), kStart + seconds(9));
  EXPECT_FALSE(calendar.wrong_between(kStart - seconds(5), kStart - seconds(1)));
  EXPECT_TRUE(calendar.wrong_between(kStart - seconds(5), kStart));
  EXPECT_TRUE(calendar.wrong_between(kStart + seconds(3), kStart + seconds(4)));
  EXPECT_FALSE(calendar.wrong_between(kStart + seconds(4), kStart + seconds(7)));
  EXPECT_TRUE(calendar.wrong_between(kStart + seconds(4), kStart + hours(1)));
  EXPECT_FALSE(calendar.wrong_between(kStart + seconds(10), kStart + hours(1)));
}

}  // namespace
}  // namespace ringkv::simulation
