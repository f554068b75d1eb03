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

TEST(DiskLosses, WithADiskTakeSyncedWritesTooButForThoseThatACopyHas) {
  History history;
  const Step before = sync(history);
  const Step copied = history.mark();
  const Step after = sync(history);
  history.lose_disk("n1", copied);
  const Step end = history.mark();
  const DiskLosses losses(history);
  EXPECT_FALSE(losses.lost_with_disk("n1", {before, before}, end));
  EXPECT_TRUE(losses.lost_with_disk("n1", {before, copied + 1}, end));
  EXPECT_TRUE(losses.lost_with_disk("n1", {after, after}, end));
  EXPECT_FALSE(losses.lost_with_disk("n2", {after, after}, end));
  EXPECT_FALSE(losses.lost_with_disk("n1", {end, end}, end + 1));
  EXPECT_EQ(losses.disks_lost({after, after}, true, end), 1U);
  EXPECT_EQ(losses.disks_lost({before, before}, true, end), 0U);
}

// An older copy, alone among members that never met a later life of it, can't know that it is one.
TEST(DiskLosses, OfAPutBackDiskAreUnnoticedUntilItHasMetWhoKnows) {
  History history;
  const Step copied = history.mark();
  const Step written = sync(history);
  history.lose_disk("n1", copied);
  history.lose_disk("n2");
  const Step alone = history.mark();
  history.notice_loss("n1");
  const Step met = history.mark();
  const Step end = history.mark();
  const DiskLosses losses(history);
  EXPECT_TRUE(losses.lost_unnoticed("n1", {written, written}, alone, end));
  EXPECT_FALSE(losses.lost_unnoticed("n1", {written, written}, alone, written + 1)) << "before it was lost";
  EXPECT_FALSE(losses.lost_unnoticed("n1", {written, written}, met, end));
  EXPECT_FALSE(losses.lost_unnoticed("n2", {written, written}, alone, end)) << "an empty directory shows";
  EXPECT_EQ(losses.disks_lost_unnoticed({written, written}, alone, end), 1U);
}

TEST(DiskLosses, CountANodeOnceThatMayHaveLostAWriteInTwoWays) {
  History history;
  const Step written = history.mark();
  history.cut_power("n1");
  history.lose_disk("n1");
  history.lose_disk("n2");
  const Step end = history.mark();
  const DiskLosses losses(history);
  EXPECT_EQ(losses.nodes_that_may_have_lost({written, written}, end), 1U);
  EXPECT_EQ(losses.disks_lost({written, written}, false, end), 1U);
  EXPECT_EQ(losses.disks_lost({written, written}, true, end), 2U);
}

}  // namespace
}  // namespace ringkv::simulation
