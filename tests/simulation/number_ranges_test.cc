#include "tools/simulation/number_ranges.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

TEST(NumberRanges, AreWrittenAsPeopleWriteThemAndReadAgain) {
  const Numbers numbers = {1, 12, 13, 14, 90, 91};
  EXPECT_EQ(text_of(numbers), "1,12-14,90-91");
  EXPECT_EQ(*numbers_from("1,12-14,90-91"), numbers);
  EXPECT_EQ(*numbers_from("7"), Numbers{7});
  EXPECT_TRUE(numbers_from("")->empty());
}

TEST(NumberRanges, WhatIsNoneIsRefusedByName) {
  for (const char* wrong : {"x", "3-", "-3", "9-3", "1,,2", "3-4-5", "0-99999999999"}) {
    const Result<Numbers> numbers = numbers_from(wrong);
    EXPECT_EQ(numbers.status().code(), StatusCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace ringkv::simulation
