#include "tools/simulation/fewest.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringkv::simulation {
namespace {

Items numbered(int count) {
  Items items;
  for (int i = 0; i < count; ++i) items.push_back(std::to_string(i));
  return items;
}

bool has(const Items& items, const std::string& wanted) {
  return std::find(items.begin(), items.end(), wanted) != items.end();
}

TEST(Fewest, FindsTheFewThatItTakesHoweverFarApartTheyAre) {
  int tried = 0;
  const Items found = fewest(numbered(200), [&](const Items& items) {
    ++tried;
    return has(items, "3") && has(items, "77") && has(items, "199");
  });
  EXPECT_EQ(found, (Items{"3", "77", "199"}));
  EXPECT_LT(tried, 100);
}

TEST(Fewest, WhatHappensByItselfTakesNothing) {
  EXPECT_TRUE(fewest(numbered(9), [](const Items&) { return true; }).empty());
  EXPECT_TRUE(fewest({}, [](const Items&) { return false; }).empty());
}

TEST(Fewest, NoSingleOneCanBeLeftOut) {
  // Either pair does it.
  const Items found = fewest(numbered(8), [](const Items& items) {
    return (has(items, "0") && has(items, "7")) || (has(items, "2") && has(items, "3"));
  });
  EXPECT_EQ(found.size(), 2U);
}

TEST(Fewest, KeepsWhatItHasWhenItIsToldNoMore) {
  int left = 4;
  const Items found = fewest(numbered(64), [&](const Items& items) { return --left > 0 && has(items, "0"); });
  EXPECT_TRUE(has(found, "0"));
  EXPECT_LT(found.size(), 64U);
}

}  // namespace
}  // namespace ringkv::simulation
