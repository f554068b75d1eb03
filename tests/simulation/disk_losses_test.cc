#include "tools/simulation/disk_losses.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

// A put that node n1 acknowledged as synced; returns when that was known.
Step sync(History& history) {
  Operation operation;
  operation.request = {ClientPut(), std::chrono::seconds(5)};
  const OperationIndex index = history.invoke(operation, Time());
  PutReceipt receipt;
  receipt.acks = {{"n1", Acknowledgement::Kind::kSynced, ""}};
  history.complete(index, {{}, receipt, 1, Boot{1}, {}}, Time());
  return history.operations()[index].completed;
}

TEST(DiskLosses, AreOfTheNodeWhosePowerWasCutAndOnlyAfterwards) {
  History history;
  const Step written = sync(history);
  history.cut_power("n2");
  const Step cut = history.power_cuts().front().at;
  const DiskLosses losses(history);
  EXPECT_TRUE(losses.may_have_lost("n2", {written, written}, cut + 1));
  EXPECT_FALSE(losses.may_have_lost("n2", {written, written}, cut));
  EXPECT_FALSE(losses.may_have_lost("n1", {written, written}, cut + 1));
  EXPECT_EQ(losses.nodes_that_may_have_lost({written, written}, cut + 1), 1U);
}

TEST(DiskLosses, EndWithTheNextSyncOfThatNode) {
  History history;
  const Step written = sync(history);
  sync(history);
  history.cut_power("n1");
  const Step cut = history.power_cuts().front().at;
  const DiskLosses losses(history);
  EXPECT_FALSE(losses.may_have_lost("n1", {written, written}, cut + 1));
  // Written before that sync was acknowledged, not before it was asked for.
  EXPECT_TRUE(losses.may_have_lost("n1", {written, written + 1}, cut + 1));
}

}  // namespace
}  // namespace ringkv::simulation
