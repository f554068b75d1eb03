#include "tools/simulation/faults.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

TEST(Faults, AreSwitchedOnByName) {
  const Result<Faults> faults = faults_from("kill,loss");
  ASSERT_TRUE(faults.ok());
  EXPECT_GT(faults->kill, Duration::zero());
  EXPECT_GT(faults->lost, 0);
  EXPECT_EQ(faults->power_cut, Duration::zero());
  EXPECT_EQ(faults->delayed, 0);
}

TEST(Faults, AllMeansEachOfThem) {
  const Faults all = *faults_from("all");
  std::string names;
  for (const std::string& name : fault_names()) names += (names.empty() ? "" : ",") + name;
  const Faults each = *faults_from(names);
  EXPECT_EQ(all.kill, each.kill);
  EXPECT_EQ(all.cache_miss, each.cache_miss);
  EXPECT_EQ(all.partition, each.partition);
  EXPECT_GT(all.lost_date, Duration::zero());
  EXPECT_GT(all.move, Duration::zero());
}

TEST(Faults, OfThoseAllowedASeedGetsHalfEachSeldomOrOften) {
  const Faults all = *faults_from("all");
  SeededRandom random(1);
  int off = 0, seldom = 0, often = 0;
  for (int seed = 0; seed < 1000; ++seed) {
    const Faults faults = drawn(all, random);
    off += faults.kill == Duration::zero() ? 1 : 0;
    seldom += faults.kill == all.kill * 2 ? 1 : 0;
    often += faults.kill == all.kill / 2 ? 1 : 0;
    EXPECT_EQ(drawn(*faults_from("kill"), random).lost, 0);
  }
  EXPECT_EQ(off + seldom + often, 1000);
  EXPECT_NEAR(off, 500, 60);
  EXPECT_NEAR(seldom, 250, 60);
}

TEST(Faults, AnUnknownNameIsRefusedWithTheNearest) {
  const Status status = faults_from("powr").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("power"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace ringkv::simulation
