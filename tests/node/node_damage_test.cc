// A node whose disk has gone bad in places.
#include <gtest/gtest.h>

#include "node/node.h"
#include "tests/node/node_fixture.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;
constexpr uint32_t kPartitions = 16;

Place place(const std::string& key) { return place_of({.partitions = kPartitions}, "", key); }

// Two keys of different partitions.
const std::string kDamaged = "a";
const std::string kOther = "b";

class DamagedNode : public testing::Test {
 protected:
  DamagedNode() {
    EXPECT_NE(place(kDamaged).partition, place(kOther).partition);
    EXPECT_TRUE(fixture_.put(kDamaged, "1").ok());
    EXPECT_TRUE(fixture_.put(kOther, "2").ok());
  }
  void damage_table() {
    fixture_.disk.damage(Family::kData, place(kDamaged).storage_key, place(kDamaged).storage_key);
  }
  // What no checksum sees.
  void spoil_record() {
    fixture_.kill();
    {
      MemoryEngine engine(fixture_.disk);
      auto batch = engine.new_batch();
      batch->put(Family::kData, place(kDamaged).storage_key, "no record");
      ASSERT_TRUE(engine.write(*batch, true).ok());
    }
    fixture_.start();
  }
  Status get(const std::string& key) { return fixture_.ask(ClientGet{.key = key}).status; }
  Status scan() { return fixture_.ask(ClientScan{.limit = 10}).status; }
  double figure(const std::string& name) {
    return std::get<Statistics>(fixture_.ask(ClientStatistics{}).body).at(name);
  }

  NodeFixture fixture_;
};

// Bug log B86, where there is no other owner to ask.
TEST_F(DamagedNode, AReadThatMeetsDamageEndsTheLifeAndTheNextServesTheRest) {
  const Boot boot = fixture_.node->life()->boot();
  damage_table();
  EXPECT_EQ(fixture_.get(kOther), Values{"2"});
  EXPECT_EQ(get(kDamaged).code(), StatusCode::kUnavailable);
  EXPECT_FALSE(fixture_.node->serving());

  fixture_.pass(std::chrono::milliseconds(10));
  ASSERT_TRUE(fixture_.node->serving());
  EXPECT_NE(fixture_.node->life()->boot(), boot);
  EXPECT_EQ(fixture_.get(kOther), Values{"2"});
  EXPECT_EQ(figure("store.damaged_files"), 1);
  EXPECT_EQ(fixture_.node->life()->wholeness().incomplete_partitions(),
            std::vector<Partition>{place(kDamaged).partition});

  const Status refused = get(kDamaged);
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find("damaged/1"), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find("--accept-loss"), std::string::npos) << refused.message();
  EXPECT_TRUE(fixture_.put(kDamaged, "3").ok()) << "it takes writes";
}

TEST_F(DamagedNode, AnOperatorMayTakeWhatIsLeftForTheWhole) {
  damage_table();
  (void)get(kDamaged);
  fixture_.pass(std::chrono::milliseconds(10));
  ASSERT_TRUE(fixture_.put(kDamaged, "3").ok());

  const ClientReply repaired = fixture_.ask(ClientRepair{.node = {}, .partition = {}, .accept_loss = true});
  ASSERT_TRUE(repaired.status.ok()) << repaired.status.to_string();
  fixture_.pass(std::chrono::milliseconds(10));
  EXPECT_EQ(fixture_.get(kDamaged), Values{"3"});
  fixture_.kill();
  fixture_.start();
  EXPECT_EQ(fixture_.get(kDamaged), Values{"3"});
}

// Nothing can be set aside: whoever walks over it makes the node look, once, and it serves on.
TEST_F(DamagedNode, ARecordOfOurOwnThatDoesNotDecodeDoesNotReopenTheStoreForEver) {
  spoil_record();
  const uint64_t openings = fixture_.openings;
  EXPECT_EQ(get(kDamaged).code(), StatusCode::kCorruption);
  EXPECT_EQ(fixture_.openings, openings);
  EXPECT_FALSE(scan().ok());
  fixture_.pass(std::chrono::milliseconds(10));
  ASSERT_TRUE(fixture_.node->serving());
  EXPECT_EQ(fixture_.openings, openings + 1);
  EXPECT_EQ(fixture_.node->life()->wholeness().incomplete(), 0U);

  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(get(kDamaged).code(), StatusCode::kCorruption);
    EXPECT_FALSE(scan().ok());
    EXPECT_EQ(fixture_.get(kOther), Values{"2"});
    fixture_.pass(std::chrono::seconds(10));
  }
  EXPECT_EQ(fixture_.openings, openings + 1);
  EXPECT_NE(scan().message().find(kDamaged), std::string::npos);

  fixture_.pass(std::chrono::hours(1));
  EXPECT_FALSE(scan().ok());
  fixture_.pass(std::chrono::milliseconds(10));
  EXPECT_EQ(fixture_.openings, openings + 2) << "an hour later a file may be damaged";
}

TEST_F(DamagedNode, AStartThatMeetsDamageSetsItAside) {
  fixture_.kill();
  fixture_.disk.damage(Family::kDigests, "", "~");
  fixture_.start();
  ASSERT_TRUE(fixture_.started.ok()) << fixture_.started.to_string();
  EXPECT_EQ(fixture_.node->life()->wholeness().incomplete(), kPartitions);
}

TEST_F(DamagedNode, WithoutItsOwnRecordsItDoesNotStart) {
  fixture_.kill();
  fixture_.disk.damage(Family::kMeta, "", "~");
  fixture_.start();
  EXPECT_EQ(fixture_.started.code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace ringkv
