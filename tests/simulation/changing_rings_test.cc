// Stories about key "k" of a ring that changes: what receipts must tell, and what is owed where owners and
// their number change.
#include <gtest/gtest.h>

#include "tests/simulation/story.h"
#include "tools/simulation/ring_history.h"

namespace ringkv::simulation {
namespace {

constexpr Dot kA1{kActor, 1};

// One partition; of each list the first owner stands in the table.
RingDescription ring_of(std::vector<std::string> names, uint32_t replicas, uint64_t epoch) {
  RingDescription ring;
  ring.epoch = epoch;
  ring.replicas = replicas;
  ring.open = true;
  for (const std::string& name : names) {
    const uint64_t id = static_cast<uint64_t>(name[1] - '0');
    ring.members.push_back({.node = NodeId{id}, .disk = DiskId{id}, .name = name, .rack = "r" + name});
  }
  for (uint16_t position = 0; position < 8; ++position)
    ring.owners.push_back(static_cast<uint16_t>(position % names.size()));
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return ring;
}

class ChangingRing : public testing::Test {
 protected:
  void hold(const RingDescription& ring) {
    story.now += std::chrono::seconds(10);
    rings.note(Ring(ring), story.history.mark(), story.now);
  }
  // A change from three copies on n1, n2, n3 to as many as asked for of these members.
  void begin(const std::vector<std::string>& names, uint32_t replicas, uint64_t epoch = 2) {
    RingDescription ring = ring_of({"n1", "n2", "n3", "n4"}, 3, epoch);
    ring.owners = ring_of({"n1", "n2", "n3"}, 3, 1).owners;
    const RingDescription next = ring_of(names, replicas, epoch + 1);
    ring.change = RingChange{next.members, next.owners, replicas, false, 5};
    hold(ring);
  }
  std::string verdict() const {
    const RingFacts ring{.copies = 3,
                         .lww_bucket = "lww",
                         .names = {{kActor.node, "n1"}, {kOther.node, "n2"}, {NodeId{3}, "n3"}},
                         .rings = &rings};
    const auto violation = check_history(story.history, ring);
    return violation ? violation->invariant : "";
  }
  // By the receipt of epoch 2.
  void put(const std::vector<std::string>& nodes, const std::vector<std::string>& hints_at = {}) {
    const OperationIndex index = story.begin_put("a");
    PutReceipt receipt;
    receipt.epoch = 2;
    for (const std::string& node : nodes) receipt.acks.push_back({node, Acknowledgement::Kind::kSynced, {}});
    for (const std::string& node : hints_at)
      receipt.acks.push_back({node, Acknowledgement::Kind::kHint, "n3"});
    receipt.operation_id = to_text(OperationName{kOperation, kActor.boot});
    ClientReply reply;
    reply.body = receipt;
    reply.boot = kActor.boot;
    story.complete(index, reply);
  }

  Story story{3};
  RingHistory rings;
};

TEST_F(ChangingRing, WantsAQuorumOfBothLists) {
  hold(ring_of({"n1", "n2", "n3"}, 3, 1));
  begin({"n2", "n3", "n4"}, 3);
  put({"n1", "n2", "n4"});
  EXPECT_EQ(verdict(), "");
  put({"n1", "n4"});
  EXPECT_EQ(verdict(), "I11");
}

TEST_F(ChangingRing, TakesNoAcknowledgementOfWhoIsNoMember) {
  hold(ring_of({"n1", "n2", "n3"}, 3, 1));
  begin({"n2", "n3", "n4"}, 3);
  put({"n1", "n2", "n4", "n9"});
  EXPECT_EQ(verdict(), "I9");
}

TEST_F(ChangingRing, CountsAHintInTheListOfItsOwnerOnly) {
  RingDescription ring = ring_of({"n1", "n2", "n3", "n4", "n5"}, 3, 2);
  ring.owners = ring_of({"n1", "n2", "n3"}, 3, 1).owners;
  hold(ring);
  put({"n1"}, {"n5"});  // for n3
  EXPECT_EQ(verdict(), "");
  put({}, {"n5"});
  EXPECT_EQ(verdict(), "I11");
}

// Whoever is new has heard two of the three; of four, three are asked.
TEST_F(ChangingRing, OwesWhatAQuorumHeldToTheQuorumOfALongerList) {
  hold(ring_of({"n1", "n2", "n3"}, 3, 1));
  story.put("a", {.left = {kA1}, .nodes = {"n1", "n2"}});
  hold(ring_of({"n1", "n2", "n3"}, 3, 2));  // with a draft
  begin({"n1", "n2", "n3", "n4"}, 4, 3);
  hold(ring_of({"n1", "n2", "n3", "n4"}, 4, 4));
  story.now += std::chrono::seconds(10);
  story.get({}, Dots{});
  EXPECT_EQ(verdict(), "I1");
}

// Two of four are no quorum: it may be gone with the list that they were half of.
TEST_F(ChangingRing, OwesNothingOfWhatFewerThanAQuorumHeld) {
  hold(ring_of({"n1", "n2", "n3", "n4"}, 4, 1));
  story.put("a", {.left = {kA1}, .nodes = {"n1", "n2"}}, {.w = 2});
  hold(ring_of({"n1", "n2", "n3"}, 3, 2));
  story.now += std::chrono::seconds(10);
  story.get({}, Dots{});
  EXPECT_EQ(verdict(), "");
}

TEST_F(ChangingRing, OwesByTheListOfTheTimeNotByAShorterOneThatFollows) {
  hold(ring_of({"n1", "n2", "n3"}, 3, 1));
  story.put("a", {.left = {kA1}, .nodes = {"n1"}}, {.w = 1});
  story.get({}, Dots{});
  hold(ring_of({"n1", "n2"}, 2, 2));
  EXPECT_EQ(verdict(), "");
}

// Of four owners a get is confirmed by two; who loses one of them's disk fetches from two others.
TEST_F(ChangingRing, OwesAConfirmedAnswerOfAnEvenListUntilADiskIsLost) {
  hold(ring_of({"n1", "n2", "n3", "n4"}, 4, 1));
  const OperationIndex open = story.begin_put("a");
  story.get({"a"}, {kA1});
  story.history.lose_disk("n1");
  story.get({}, Dots{});
  story.fail(open, unknown_outcome("timed out"));
  EXPECT_EQ(verdict(), "");
}

TEST_F(ChangingRing, OwesAConfirmedAnswerOfAnEvenList) {
  hold(ring_of({"n1", "n2", "n3", "n4"}, 4, 1));
  const OperationIndex open = story.begin_put("a");
  story.get({"a"}, {kA1});
  story.get({}, Dots{});
  story.fail(open, unknown_outcome("timed out"));
  EXPECT_EQ(verdict(), "I1");
}

TEST_F(ChangingRing, LetsARequestAskForMoreOwnersThanThereAre) {
  hold(ring_of({"n1", "n2", "n3"}, 2, 1));
  const OperationIndex put = story.begin_put("a", {.w = 3});
  story.fail(put, invalid_argument("--w 3 can't be reached"));
  EXPECT_EQ(verdict(), "");
  story.fail(story.begin_put("b", {.w = 2}), invalid_argument("--w 2 can't be reached"));
  EXPECT_EQ(verdict(), "honest answers");
}

}  // namespace
}  // namespace ringkv::simulation
