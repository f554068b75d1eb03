#include "tools/simulation/strikes.h"

#include <gtest/gtest.h>

#include <map>

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

// What each strike drew, by its name, within five minutes.
std::map<std::string, uint64_t> drawn(uint64_t seed, const std::optional<Names>& only) {
  EventQueue events;
  Strikes strikes(events, seed, only);
  std::vector<uint64_t> numbers;
  for (const char* name : {"kill:n1", "kill:n2", "partition"})
    strikes.add(name, seconds(20), [&] { numbers.push_back(strikes.random().next()); });
  strikes.add("never", {}, [&] { numbers.push_back(0); });
  events.run_until(events.now() + seconds(300));
  std::map<std::string, uint64_t> found;
  for (size_t i = 0; i < numbers.size(); ++i) found[strikes.struck()[i].name] = numbers[i];
  return found;
}

TEST(Strikes, ComeAgainAndAgainEachByItsName) {
  const auto all = drawn(1, std::nullopt);
  EXPECT_TRUE(all.contains("kill:n1:1"));
  EXPECT_TRUE(all.contains("kill:n2:1"));
  EXPECT_TRUE(all.contains("partition:2"));
  EXPECT_FALSE(all.contains("never:1"));
  EXPECT_GT(all.size(), 20U);
  EXPECT_LT(all.size(), 90U);
  EXPECT_NE(all, drawn(2, std::nullopt));
}

TEST(Strikes, WhatIsLeftOutChangesNothingOfTheOthers) {
  const auto all = drawn(1, std::nullopt);
  const auto some = drawn(1, Names{"kill:n2:2", "partition:1"});
  ASSERT_EQ(some.size(), 2U);
  for (const auto& [name, number] : some) EXPECT_EQ(all.at(name), number) << name;
  EXPECT_TRUE(drawn(1, Names()).empty());
}

TEST(Strikes, EndAtOnce) {
  EventQueue events;
  Strikes strikes(events, 1, std::nullopt);
  strikes.add("kill:n1", seconds(1), [&] { strikes.end(); });
  events.run_until(events.now() + seconds(60));
  EXPECT_EQ(strikes.struck().size(), 1U);
}

}  // namespace
}  // namespace ringkv::simulation
