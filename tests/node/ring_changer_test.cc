#include "node/ring_changer.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "node/ring_plans.h"
#include "tests/node/ring_samples.h"

namespace ringkv {
namespace {

using std::chrono::seconds;

constexpr Time kNow{seconds(100)};

// Of the node n2, which is the only voter; n4 is a joiner of the change that is under way.
class RingChangerTest : public testing::Test {
 protected:
  Status change(NodeId self, RingEdit edit) {
    RingChanger changer(self, register_, [](NodeId) { return "n2"; });
    Status said = unavailable("nothing yet");
    changer.change(std::move(edit), kNow + seconds(5), [&](Status status) { said = std::move(status); });
    GossipOutbox outbox;
    changer.start(ring_, kNow, outbox);
    return said;
  }

  static RingDescription in_change() {
    const RingDescription ring = stepped(*waits(joiner(40, "n4"))(ring_of({"n3"})));
    const RingDescription planned_ring = stepped(*planned({PlanJoin{"n4"}})(ring));
    return stepped(*committed(planned_ring.epoch, 7)(planned_ring));
  }

  SeededRandom random_{1};
  Ring ring_{in_change()};
  Voter voter_{NodeId{1}, DiskId{1}, Boot{1}};
  EpochRegister register_ = *EpochRegister::open(
      voter_, {.epoch = ring_.epoch(), .digest = "d", .seats = {{NodeId{1}, DiskId{1}}}}, "",
      [](NodeId) { return Boot{}; }, random_);
};

TEST_F(RingChangerTest, ProposesNoRingInWhichItIsNoMember) {
  const RingEdit cancelling = withdrawn(ring_.epoch());
  const Status refused = change(NodeId{40}, cancelling);
  EXPECT_EQ(refused.code(), StatusCode::kForbidden);
  EXPECT_EQ(refused.message(), "n4 would be no member of the cluster by this: ask another node");
  EXPECT_FALSE(register_.proposing());
  EXPECT_EQ(change(NodeId{1}, cancelling).message(), "nothing yet");
  EXPECT_TRUE(register_.proposing());
}

}  // namespace
}  // namespace ringkv
