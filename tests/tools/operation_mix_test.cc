#include "tools/kvbench/operation_mix.h"

#include <gtest/gtest.h>

#include <map>

namespace ringkv::tools {
namespace {

using Counts = std::map<OperationKind, int>;

// Of a hundred rolls, one of each.
Counts hundred(Workload workload) {
  Counts counts;
  for (uint64_t roll = 100; roll < 200; ++roll) ++counts[mix_of(workload).kind_of(roll)];
  return counts;
}

TEST(OperationMix, WorkloadsDoWhatYcsbSays) {
  constexpr auto kRead = OperationKind::kRead;
  constexpr auto kUpdate = OperationKind::kUpdate;
  EXPECT_EQ(hundred(Workload::kPut), (Counts{{kUpdate, 100}}));
  EXPECT_EQ(hundred(Workload::kGet), (Counts{{kRead, 100}}));
  EXPECT_EQ(hundred(Workload::kMixed), (Counts{{kRead, 50}, {kUpdate, 50}}));
  EXPECT_EQ(hundred(Workload::kYcsbA), (Counts{{kRead, 50}, {kUpdate, 50}}));
  EXPECT_EQ(hundred(Workload::kYcsbB), (Counts{{kRead, 95}, {kUpdate, 5}}));
  EXPECT_EQ(hundred(Workload::kYcsbC), (Counts{{kRead, 100}}));
  EXPECT_EQ(hundred(Workload::kYcsbD), (Counts{{kRead, 95}, {OperationKind::kInsert, 5}}));
  EXPECT_EQ(hundred(Workload::kYcsbF), (Counts{{kRead, 50}, {OperationKind::kReadModifyWrite, 50}}));
}

TEST(OperationMix, OnlyPutsWantNoKeysBefore) {
  EXPECT_FALSE(reads(mix_of(Workload::kPut)));
  for (const Workload workload : {Workload::kGet, Workload::kMixed, Workload::kYcsbA, Workload::kYcsbB,
                                  Workload::kYcsbC, Workload::kYcsbD, Workload::kYcsbF})
    EXPECT_TRUE(reads(mix_of(workload))) << name_of(workload);
}

}  // namespace
}  // namespace ringkv::tools
