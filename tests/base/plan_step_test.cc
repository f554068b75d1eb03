#include "base/plan_step.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

const std::vector<PlanStep> kAll = {
    PlanJoin{"n4"},         PlanLeave{"n3"},     PlanLeave{"n3", true}, PlanReplace{"n2", "n5", true},
    PlanWeight{"n1", 0.25}, PlanRack{"n1", "b"}, PlanReplicas{5},       PlanMove{17, "n1"}};

TEST(PlanStep, IsToldAsItIsTyped) {
  std::string text;
  for (const PlanStep& step : kAll) text += to_text(step) + '\n';
  EXPECT_EQ(text,
            "join n4\nleave n3\nleave n3 --force\nreplace n2 n5 --force\nweight n1 0.25\nrack n1 b\nreplicas "
            "5\nmove 17 n1\n");
}

TEST(PlanStep, IsReadAsItWasWritten) {
  std::string bytes;
  ByteWriter out(bytes);
  for (const PlanStep& step : kAll) write_plan_step(out, step);
  ByteReader in(bytes);
  for (const PlanStep& step : kAll) EXPECT_EQ(read_plan_step(in), step);
  EXPECT_TRUE(in.finished());
}

TEST(PlanStep, OfAnotherKindIsMalformed) {
  for (const std::string_view bytes : {"\x07\x02n1", "\x02\x01n\x01m\x02", "\x05\xff\xff\xff\xff\x7f"}) {
    ByteReader in(bytes);
    (void)read_plan_step(in);
    EXPECT_FALSE(in.ok());
  }
}

}  // namespace
}  // namespace ringkv
