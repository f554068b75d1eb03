#include "replication/round_source.h"

#include <gtest/gtest.h>

#include "tests/replication/round_fixture.h"

namespace ringkv {
namespace {

constexpr NodeId kPuller{2};

struct Fixture {
  explicit Fixture(uint32_t replicas = 0) : cluster(3, Duration(), replicas), first(cluster.node(1)) {
    cluster.on_written = [this](auto&, auto& letter) {
      if (letter.to == kPuller) answers.push_back(letter.message);
    };
    cluster.hold = [](const auto&) { return true; };
  }

  template <class Answer, class Question>
  Answer ask(Question question) {
    answers.clear();
    cluster.receive({kPuller, first.id, question});
    cluster.run();
    const Answer* answer = answers.size() == 1 ? std::get_if<Answer>(&answers[0]) : nullptr;
    EXPECT_NE(answer, nullptr);
    return answer == nullptr ? Answer() : *answer;
  }
  RoundSlice walk(RoundWalk walk) {
    if (walk.storage_keys.empty()) walk.leaves.set();
    return ask<RoundSlice>(std::move(walk));
  }

  RoundFixture cluster;
  RoundFixture::Node& first;
  std::vector<Message> answers;
};

const Place& place_of_a() {
  static const Place kPlace = RoundFixture::place("a");
  return kPlace;
}

TEST(RoundSource, AnswersOneDigestOfAllThatBothOwn) {
  Fixture fixture(2);  // n1 and n2 share the partitions 0, 3, 6, ...
  fixture.cluster.put(1, "a", "x");
  fixture.cluster.run();
  const auto digests = fixture.ask<RoundDigests>(RoundCompare{.round = 7});
  std::vector<Partition> shared;
  for (Partition partition = 0; partition < kTestPartitions; partition += 3) shared.push_back(partition);
  EXPECT_EQ(digests.round, 7U);
  EXPECT_EQ(digests.source, fixture.first.id);
  EXPECT_EQ(digests.digests, std::vector<Hash128>{fixture.first.store->leaves().hash_of(shared)});
  EXPECT_EQ(digests.lives.vector.counter_of(fixture.first.store->actor()), 1U);
  EXPECT_EQ(digests.epoch, 1U);
}

TEST(RoundSource, LeavesOutWhatItDoesNotShare) {
  Fixture fixture(2);
  const auto digests =
      fixture.ask<RoundDigests>(RoundCompare{.level = DigestLevel::kPartitions, .ids = {0, 1, 3, 999}});
  EXPECT_EQ(digests.ids, (std::vector<uint32_t>{0, 3}));
  EXPECT_EQ(digests.digests.size(), 2U);
}

TEST(RoundSource, SaysWhatItHoldsWithTheFloorOfThatMoment) {
  Fixture fixture;
  const Dot dot = fixture.cluster.put(1, "a", "x");  // staged only
  const auto leaves = fixture.ask<RoundLeaves>(RoundOpen{.partition = place_of_a().partition});
  EXPECT_TRUE(leaves.status.ok());
  EXPECT_TRUE(leaves.floor.covers(dot));
  ASSERT_EQ(leaves.leaves.size(), 1U);
  EXPECT_EQ(leaves.leaves[0].leaf, place_of_a().leaf % kLeavesPerPartition);
  EXPECT_EQ(leaves.leaves[0].value, fixture.first.store->leaves().at(place_of_a().leaf));
}

TEST(RoundSource, RefusesPartitionsOfOthersByName) {
  Fixture fixture(2);
  for (const Partition partition : {Partition{1}, kTestPartitions}) {  // partition 1 is of n2 and n3
    const auto leaves = fixture.ask<RoundLeaves>(RoundOpen{.partition = partition});
    EXPECT_EQ(leaves.status.code(), StatusCode::kForbidden);
    EXPECT_NE(leaves.status.message().find("n1"), std::string::npos);
    EXPECT_EQ(fixture.walk({.partition = partition}).status.code(), StatusCode::kForbidden);
  }
}

TEST(RoundSource, RefusesKeysOfOtherPartitions) {
  Fixture fixture;
  const Partition other = (place_of_a().partition + 1) % kTestPartitions;
  for (const std::string& key : {place_of_a().storage_key, std::string("short")}) {
    const RoundSlice slice = fixture.walk({.partition = other, .storage_keys = {key}});
    EXPECT_EQ(slice.status.code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(slice.entries.empty());
  }
}

TEST(RoundSource, ListsKeysAndDotsOrWholeRecords) {
  Fixture fixture;
  const Dot dot = fixture.cluster.put(1, "a", "x");
  fixture.cluster.run();
  const RoundSlice keys = fixture.walk({.round = 9, .partition = place_of_a().partition});
  EXPECT_EQ(keys.round, 9U);
  EXPECT_TRUE(keys.at_end);
  ASSERT_EQ(keys.entries.size(), 1U);
  EXPECT_EQ(keys.entries[0].storage_key, place_of_a().storage_key);
  EXPECT_EQ(keys.entries[0].dots, std::vector<Dot>{dot});
  EXPECT_EQ(keys.entries[0].record, nullptr);
  EXPECT_TRUE(keys.floor.covers(dot));

  const RoundSlice records = fixture.walk(
      {.partition = place_of_a().partition, .storage_keys = {place_of_a().storage_key}, .records = true});
  ASSERT_EQ(records.entries.size(), 1U);
  EXPECT_EQ(decode_record(*records.entries[0].record)->versions[0].value, "x");
}

TEST(RoundSource, SaysOfAPartitionThatIsEqualOnlyThat) {
  Fixture fixture;
  const Dot dot = fixture.cluster.put(1, "a", "x");
  const Partition partition = place_of_a().partition;
  const auto leaves = fixture.ask<RoundLeaves>(
      RoundOpen{.partition = partition, .hash = fixture.first.store->leaves().partition_hash(partition)});
  EXPECT_TRUE(leaves.equal);
  EXPECT_TRUE(leaves.leaves.empty());
  EXPECT_TRUE(leaves.floor.covers(dot));
}

TEST(RoundSource, TellsWhatIsLackingByTheHashOfALeaf) {
  Fixture fixture;
  fixture.cluster.put(1, "a", "x");
  fixture.cluster.run();
  const auto leaf = static_cast<uint8_t>(place_of_a().leaf % kLeavesPerPartition);
  RoundWalk walk{.partition = place_of_a().partition, .records = true, .lacking = {{leaf, {}}}};
  const auto all = fixture.ask<RoundSlice>(walk);
  ASSERT_EQ(all.entries.size(), 1U);
  EXPECT_EQ(decode_record(*all.entries[0].record)->versions[0].value, "x");
  const Hash128 here = fixture.first.store->leaves().at(place_of_a().leaf).hash;
  EXPECT_EQ(all.answered, (std::vector<LeafAnswer>{{leaf, here}}));
  walk.lacking = {{leaf, here}};
  EXPECT_TRUE(fixture.ask<RoundSlice>(walk).entries.empty());
}

// What its floor claims is on the disk by the time that it reads.
TEST(RoundSource, ReadsOnlyWhenAllThatItsFloorClaimsIsCommitted) {
  Fixture fixture;
  const Dot dot = fixture.cluster.put(1, "a", "x");
  RoundWalk walk{.partition = place_of_a().partition};
  walk.leaves.set();
  fixture.cluster.receive({kPuller, fixture.first.id, walk});
  EXPECT_TRUE(fixture.first.reads.empty());
  const Dot later = fixture.cluster.put(1, "a", "y");

  fixture.cluster.run();

  const auto& slice = std::get<RoundSlice>(fixture.answers.at(0));
  EXPECT_TRUE(slice.floor.covers(dot));
  EXPECT_FALSE(slice.floor.covers(later)) << "noted before it waited";
  ASSERT_EQ(slice.entries.size(), 1U);
}

TEST(RoundSource, TakesSoManyWalksAtOnce) {
  Fixture fixture;
  fixture.cluster.put(1, "a", "x");  // what they wait for
  for (size_t i = 0; i <= RoundSource::kWalksMax; ++i) {
    fixture.cluster.receive({kPuller, fixture.first.id, RoundWalk{.partition = place_of_a().partition}});
  }
  ASSERT_EQ(fixture.answers.size(), 1U);
  EXPECT_EQ(std::get<RoundSlice>(fixture.answers[0]).status.code(), StatusCode::kOverloaded);
  fixture.cluster.run();
  EXPECT_EQ(fixture.answers.size(), RoundSource::kWalksMax + 1);
}

// On disk entries of earlier lives may be left out of a context; no record leaves the node like that.
TEST(RoundSource, FillsTheContextsOfRecords) {
  Fixture fixture;
  RoundFixture& cluster = fixture.cluster;
  for (int life = 0; life < 12; ++life) {
    cluster.put(1, "a", "x" + std::to_string(life));
    cluster.run();
    cluster.kill(1);
    cluster.start(1);
  }
  cluster.put(1, "a", "last");
  cluster.run();
  ASSERT_TRUE(cluster.stored(1, "a").context.stripped);

  const RoundSlice slice = fixture.walk({.partition = place_of_a().partition, .records = true});

  ASSERT_EQ(slice.entries.size(), 1U);
  const Result<Record> record = decode_record(*slice.entries[0].record);
  ASSERT_TRUE(record.ok());
  EXPECT_FALSE(record->context.stripped);
  EXPECT_EQ(record->context.vector.entries().size(), 13U);
}

TEST(RoundSource, AnswersForADiskThatCannotBeRead) {
  Fixture fixture;
  fixture.cluster.put(1, "a", "x");
  fixture.cluster.run();
  fixture.first.disk->fail(DiskCall::kGet, 1, DiskError::kInputOutput);
  EXPECT_FALSE(fixture.walk({.partition = place_of_a().partition}).status.ok());
}

}  // namespace
}  // namespace ringkv
