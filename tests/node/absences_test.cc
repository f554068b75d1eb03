#include "node/absences.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

using std::chrono::seconds;

class AbsencesTest : public testing::Test {
 protected:
  // What this node says after a look that finds these unreachable.
  std::vector<NodeId> look(seconds now, std::vector<NodeId> unreachable) {
    RingView view(NodeId{1}, ring_, &token_of);
    view.set_view({.unreachable = std::move(unreachable)});
    absences_->look(view, Time(now));
    return absences_->given_up();
  }

  const Ring ring_{ClusterFixture::description(4, 3)};
  std::optional<Absences> absences_{seconds(3)};
};

TEST_F(AbsencesTest, NamesWhoWasNotReachedForLongEnough) {
  EXPECT_TRUE(look(seconds(100), {NodeId{4}}).empty());
  EXPECT_TRUE(look(seconds(102), {NodeId{3}, NodeId{4}}).empty());
  EXPECT_EQ(look(seconds(103), {NodeId{3}, NodeId{4}}), std::vector{NodeId{4}});
  EXPECT_EQ(look(seconds(105), {NodeId{3}, NodeId{4}}), (std::vector{NodeId{3}, NodeId{4}}));
}

TEST_F(AbsencesTest, ABreakBeginsTheTimeAnew) {
  look(seconds(100), {NodeId{4}});
  EXPECT_TRUE(look(seconds(102), {}).empty());
  EXPECT_TRUE(look(seconds(104), {NodeId{4}}).empty());
  EXPECT_EQ(look(seconds(107), {NodeId{4}}), std::vector{NodeId{4}});
  EXPECT_TRUE(look(seconds(108), {}).empty());
}

// It was paused itself: who knows whether the other one was there meanwhile.
TEST_F(AbsencesTest, WhoHasNotLookedHasSeenNothing) {
  look(seconds(100), {NodeId{4}});
  EXPECT_TRUE(look(seconds(3700), {NodeId{4}}).empty());
  EXPECT_EQ(look(seconds(3703), {NodeId{4}}), std::vector{NodeId{4}});
}

TEST_F(AbsencesTest, ZeroIsNever) {
  absences_.emplace(Duration(0));
  look(seconds(100), {NodeId{4}});
  EXPECT_TRUE(look(seconds(105), {NodeId{4}}).empty());
}

}  // namespace
}  // namespace ringkv
