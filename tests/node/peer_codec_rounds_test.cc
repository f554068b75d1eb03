// Hints and rounds on the wire, and what gossip says for them.
#include <gtest/gtest.h>

#include "base/ring_description.h"
#include "node/peer_channel.h"
#include "node/peer_codec.h"
#include "node/peer_codec_packed.h"
#include "node/peer_wire.pb.h"
#include "storage/record_codec.h"
#include "tests/node/peer_samples.h"

namespace ringkv {
namespace {

constexpr Time kNow{std::chrono::hours(5)};
constexpr Actor kA{{1}, {2}}, kB{{1}, {3}};

Frame only_frame(const std::string& bytes) {
  const auto frame = read_frame(bytes, kFrameBytesMax);
  EXPECT_TRUE(frame.ok() && frame->has_value());
  EXPECT_EQ((*frame)->bytes, bytes.size());
  return **frame;
}

template <class Message>
Message sent_through(const Message& message) {
  PeerCodec codec;
  std::string bytes;
  const Status status = codec.encode(message, {3, 17}, kNow, bytes);
  EXPECT_TRUE(status.ok()) << status.to_string();
  const Result<ReceivedPeerMessage> received = codec.decode(only_frame(bytes), {}, kNow);
  EXPECT_TRUE(received.ok()) << received.status().to_string();
  return std::get<Message>(received->message);
}

// A frame as some other program might make it.
template <class Body>
bool is_taken(FrameType type, const Body& body, std::string_view values = {}) {
  std::string bytes;
  FrameWriter frame(bytes, type, 0, 0);
  body.AppendToString(&bytes);
  frame.begin_values();
  bytes.append(values);
  frame.finish();
  PeerCodec codec;
  return codec.decode(only_frame(bytes), {}, kNow).ok();
}

// Values as the writer packs them.
template <class Pack>
std::string packed(const Pack& pack) {
  std::string bytes;
  ByteWriter writer(bytes);
  pack(writer);
  return bytes;
}

SharedBytes shared(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }

// ---- what comes back

TEST(PeerCodecRounds, AHintComesBackButItsPlace) {
  HintPut put{
      9, {7}, {}, "b", "k", shared("record"), Conflict::kLastWriterWins, false, kNow + kSampleTimeout};
  put.place.storage_key = "never sent";
  const HintPut got = sent_through(put);
  EXPECT_EQ(got.request, 9U);
  EXPECT_EQ(got.intended, NodeId{7});
  EXPECT_EQ(got.bucket, "b");
  EXPECT_EQ(got.key, "k");
  EXPECT_EQ(*got.record, "record");
  EXPECT_EQ(got.conflict, Conflict::kLastWriterWins);
  EXPECT_FALSE(got.sync);
  EXPECT_EQ(got.deadline, put.deadline);
  EXPECT_EQ(got.place.storage_key, "");
  EXPECT_EQ(sent_through(ReplicaPutAck{5, {1}, {}, {7}}).hint_for, NodeId{7});
}

// Of another node's words only the context counts, whatever its reason.
TEST(PeerCodecRounds, WhatCoversAHintComesBackButItsReason) {
  const HintCovered got =
      sent_through(HintCovered{{7}, {}, "b", "k", sample_record().context, HintCovered::Reason::kDelivered});
  EXPECT_EQ(got.intended, NodeId{7});
  EXPECT_EQ(got.bucket, "b");
  EXPECT_EQ(got.key, "k");
  EXPECT_EQ(got.context, sample_record().context);
  EXPECT_EQ(got.reason, HintCovered::Reason::kAcknowledged);
}

TEST(PeerCodecRounds, DigestsComeBackInOrder) {
  const RoundCompare compare = sent_through(RoundCompare{4, DigestLevel::kGroups, {0, 7, 65'535}});
  EXPECT_EQ(compare.round, 4U);
  EXPECT_EQ(compare.level, DigestLevel::kGroups);
  EXPECT_EQ(compare.ids, (std::vector<uint32_t>{0, 7, 65'535}));

  const RoundDigests digests = sent_through(RoundDigests{
      4, {7}, {}, DigestLevel::kPartitions, {3, 9}, {{1, 2}, {3, ~0ULL}}, sample_record().context, 17, {3}});
  EXPECT_EQ(digests.incomplete, (std::vector<Partition>{3}));
  EXPECT_EQ(digests.round, 4U);
  EXPECT_EQ(digests.source, NodeId{7});
  EXPECT_TRUE(digests.status.ok());
  EXPECT_EQ(digests.ids, (std::vector<uint32_t>{3, 9}));
  EXPECT_EQ(digests.digests, (std::vector<Hash128>{{1, 2}, {3, ~0ULL}}));
  EXPECT_EQ(digests.lives, sample_record().context);
  EXPECT_EQ(digests.epoch, 17U);
  EXPECT_EQ(sent_through(RoundDigests{.round = 4, .status = overloaded("later")}).status,
            overloaded("later"));
}

TEST(PeerCodecRounds, LeavesComeBackWithTheirFloor) {
  CausalContext erased;
  erased.vector.raise(kA, 5);
  const RoundLeaves got = sent_through(RoundLeaves{4,
                                                   {7},
                                                   {},
                                                   65'535,
                                                   sample_record().context,
                                                   erased,
                                                   {kA, kB},
                                                   true,
                                                   {{0, {{1, 2}, 3, 4}}, {255, {{5, 6}, 7, ~0ULL}}}});
  EXPECT_EQ(got.partition, 65'535U);
  EXPECT_EQ(got.floor, sample_record().context);
  EXPECT_EQ(got.erased, erased);
  EXPECT_EQ(got.closed, (std::vector<Actor>{kA, kB}));
  EXPECT_TRUE(got.equal);
  ASSERT_EQ(got.leaves.size(), 2U);
  EXPECT_EQ(got.leaves[0].leaf, 0);
  EXPECT_EQ(got.leaves[1].leaf, 255);
  EXPECT_EQ(got.leaves[1].value, (Leaf{{5, 6}, 7, ~0ULL}));
}

TEST(PeerCodecRounds, AWalkOfAllLeavesOrOfNoneIsWhatItWas) {
  LeafSet some;
  some.set(0).set(8).set(255);
  for (const LeafSet& leaves : {LeafSet(), LeafSet().set(), some}) {
    const std::vector<LeafHash> lacking = {{0, {1, 2}}, {255, {3, ~0ULL}}};
    const RoundWalk got = sent_through(RoundWalk{4, 17, leaves, "after", {"a", ""}, true, lacking});
    EXPECT_EQ(got.lacking, lacking);
    EXPECT_EQ(got.leaves, leaves);
    EXPECT_EQ(got.after, "after");
    EXPECT_EQ(got.storage_keys, (std::vector<std::string>{"a", ""}));
    EXPECT_TRUE(got.records);
  }
}

TEST(PeerCodecRounds, ASliceSaysWhereOnlyDotsAreListed) {
  const RoundSlice got = sent_through(
      RoundSlice{4,
                 {7},
                 {},
                 17,
                 sample_record().context,
                 {kA},
                 {{"a", {1, 2}, {{kA, 3}, {kB, ~0ULL}}, nullptr}, {"b", {3, 4}, {}, shared("r")}},
                 "b",
                 true,
                 {{7, Hash128{5, 6}}, {8, Hash128()}, {9, {}}}});
  EXPECT_EQ(got.answered, (std::vector<LeafAnswer>{{7, Hash128{5, 6}}, {8, Hash128()}, {9, {}}}));
  EXPECT_EQ(got.floor, sample_record().context);
  EXPECT_EQ(got.closed, std::vector<Actor>{kA});
  ASSERT_EQ(got.entries.size(), 2U);
  EXPECT_EQ(got.entries[0].storage_key, "a");
  EXPECT_EQ(got.entries[0].hash, (Hash128{1, 2}));
  EXPECT_EQ(got.entries[0].dots, (std::vector<Dot>{{kA, 3}, {kB, ~0ULL}}));
  EXPECT_EQ(got.entries[0].record, nullptr);
  EXPECT_EQ(*got.entries[1].record, "r");
  EXPECT_EQ(got.last, "b");
  EXPECT_TRUE(got.at_end);
}

// An empty floor is a floor: nothing is covered, but it was asked for.
TEST(PeerCodecRounds, AnAnswerSaysWhetherItBringsAFloor) {
  ReplicaGetReply reply{6, {7}, {}, false, sample_record(), {1, 2}};
  EXPECT_FALSE(sent_through(reply).with_floor);
  reply.with_floor = true;
  EXPECT_TRUE(sent_through(reply).with_floor);
  EXPECT_TRUE(sent_through(reply).floor.empty());
  reply.floor.raise(kA, 5);
  reply.closed = {kB};
  EXPECT_EQ(sent_through(reply).floor, reply.floor);
  EXPECT_EQ(sent_through(reply).closed, reply.closed);
}

TEST(PeerCodecRounds, AnInspectionBringsHintsAndWhatBlocks) {
  ReplicaGetReply reply{6, {7}, {}, false, {}, {}};
  reply.hints = {{{8}, sample_record()}, {{9}, sample_record()}};
  reply.blocked_by = {{kA, 3}};
  reply.whole = false;
  const ReplicaGetReply got = sent_through(reply);
  ASSERT_EQ(got.hints.size(), 2U);
  EXPECT_EQ(got.hints[1].intended, NodeId{9});
  EXPECT_EQ(got.hints[1].record, sample_record());
  EXPECT_EQ(got.blocked_by, reply.blocked_by);
  EXPECT_FALSE(got.whole);
}

// Siblings of 16 MiB, kept for several: people get to see that they are there.
TEST(PeerCodecRounds, LargeHintsAreInspectedWithoutTheirValues) {
  Record large = sample_record();
  large.versions[0].value.assign(kValueBytesMax, 'v');
  ReplicaGetReply reply{6, {7}, {}, false, {}, {}};
  reply.hints = {{{8}, sample_record()}};
  for (uint64_t node = 9; node < 29; ++node) reply.hints.push_back({{node}, large});
  const ReplicaGetReply got = sent_through(reply);
  ASSERT_EQ(got.hints.size(), 21U);
  EXPECT_EQ(got.hints[0].record, sample_record());
  EXPECT_EQ(got.hints[20].record.versions[0].value, "");
  EXPECT_EQ(got.hints[20].record.versions[0].dot, large.versions[0].dot);
}

TEST(PeerCodecRounds, FloorsOfAScanComeBackByPartition) {
  ReplicaScanReply reply{7, {1}, {}, {{"a", shared("1")}}, "c", true};
  reply.floors = {{0, sample_record().context.vector}, {65'535, {}}};
  reply.closed = {kA};
  const ReplicaScanReply got = sent_through(reply);
  ASSERT_EQ(got.floors.size(), 2U);
  EXPECT_EQ(got.floors[0].floor, sample_record().context.vector);
  EXPECT_EQ(got.floors[1].partition, 65'535U);
  EXPECT_EQ(got.closed, std::vector<Actor>{kA});
  EXPECT_EQ(got.entries.size(), 1U);
}

TEST(PeerCodecRounds, GossipCarriesClocksAndLives) {
  EXPECT_EQ(sent_through(Probe{1, {}, 1'700'000'000'000'000}).wall, 1'700'000'000'000'000U);
  EXPECT_EQ(sent_through(ProbeAck{1, {7}, {}, 1'700'000'000'000'001}).wall, 1'700'000'000'000'001U);
  PeerCodec codec;
  std::string bytes;
  PeerWelcome welcome = sample_welcome();
  welcome.boots_known = {{0xB9}, {0xB8}};
  codec.encode(welcome, bytes);
  EXPECT_EQ(codec.decode_welcome(only_frame(bytes))->boots_known, welcome.boots_known);
}

TEST(PeerCodecRounds, TravelBesideRequests) {
  EXPECT_EQ(channel_of(HintPut{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(HintCovered{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(RoundCompare{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(RoundDigests{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(RoundOpen{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(RoundLeaves{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(RoundWalk{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(RoundSlice{}), PeerChannel::kRequests);
}

// ---- the largest that there are

TEST(PeerCodecRounds, TheLargestRingIsComparedPartitionByPartition) {
  RoundCompare compare{4, DigestLevel::kPartitions, {}};
  RoundDigests digests{.round = 4, .level = DigestLevel::kPartitions};
  for (uint32_t partition = 0; partition < kPartitionsMax; ++partition) {
    compare.ids.push_back(partition);
    digests.ids.push_back(partition);
    digests.digests.push_back({partition, ~0ULL});
  }
  EXPECT_EQ(sent_through(compare).ids, compare.ids);
  EXPECT_EQ(sent_through(digests).digests, digests.digests);
}

TEST(PeerCodecRounds, EveryLeafOfAPartitionFits) {
  RoundLeaves leaves{.round = 4};
  for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf)
    leaves.leaves.push_back({static_cast<uint8_t>(leaf), {{~0ULL, ~0ULL}, ~0ULL, ~0ULL}});
  EXPECT_EQ(sent_through(leaves).leaves.size(), kLeavesPerPartition);
}

TEST(PeerCodecRounds, ARecordLargerThanAFrameTravelsInParts) {
  PeerCodec codec;
  std::string bytes;
  const RoundSlice slice{4,   {7}, {}, 17, {}, {}, {{"a", {1, 2}, {}, shared(std::string(20 << 20, 'r'))}},
                         "a", true};
  ASSERT_TRUE(codec.encode(slice, {3, 17}, kNow, bytes).ok());
  const auto part = read_frame(bytes, kFrameBytesMax);
  ASSERT_TRUE(part.ok() && part->has_value());
  ASSERT_EQ((*part)->type, FrameType::kPeerValues);
  const std::string last = bytes.substr((*part)->bytes);
  const auto received = codec.decode(only_frame(last), std::string((*part)->values), kNow);
  ASSERT_TRUE(received.ok()) << received.status().to_string();
  EXPECT_EQ(std::get<RoundSlice>(received->message).entries[0].record->size(), size_t{20} << 20);
}

// ---- what nobody should send

TEST(PeerCodecRounds, NumbersOutsideTheirRangeAreRefused) {
  const std::string no_leaves(32, '\0');
  peer_wire::RoundOpen open;
  open.set_partition(kPartitionsMax - 1);
  EXPECT_TRUE(is_taken(FrameType::kRoundOpen, open));
  open.set_partition(kPartitionsMax);
  EXPECT_FALSE(is_taken(FrameType::kRoundOpen, open));

  peer_wire::RoundCompare compare;
  compare.set_level(2);
  EXPECT_TRUE(is_taken(FrameType::kRoundCompare, compare));
  compare.set_level(3);
  EXPECT_FALSE(is_taken(FrameType::kRoundCompare, compare));
  compare.set_level(0);
  for (uint32_t i = 0; i <= kPartitionsMax; ++i) compare.add_ids(0);
  EXPECT_FALSE(is_taken(FrameType::kRoundCompare, compare));

  peer_wire::RoundWalk walk;
  const std::string nothing = no_leaves + std::string(2, '\0');
  EXPECT_TRUE(is_taken(FrameType::kRoundWalk, walk, nothing));
  walk.set_after(std::string(70'000, 'a'));
  EXPECT_FALSE(is_taken(FrameType::kRoundWalk, walk, nothing));

  peer_wire::HintPut put;
  put.set_key("k");
  EXPECT_TRUE(is_taken(FrameType::kHintPut, put));
  put.set_conflict(2);
  EXPECT_FALSE(is_taken(FrameType::kHintPut, put));
}

TEST(PeerCodecRounds, AHintOfNoKeyIsRefused) {
  EXPECT_FALSE(is_taken(FrameType::kHintPut, peer_wire::HintPut()));
  peer_wire::HintCovered covered;
  const std::string nothing = packed([](ByteWriter& writer) { pack(CausalContext(), writer); });
  EXPECT_FALSE(is_taken(FrameType::kHintCovered, covered, nothing));
  covered.set_key("k");
  EXPECT_TRUE(is_taken(FrameType::kHintCovered, covered, nothing));
  EXPECT_FALSE(is_taken(FrameType::kHintCovered, covered, nothing + "x"));
  EXPECT_FALSE(is_taken(FrameType::kHintCovered, covered, nothing.substr(1)));
}

// Each digest stands for the id at its place.
TEST(PeerCodecRounds, DigestsThatFitNoIdsAreRefused) {
  const std::string one = packed([](ByteWriter& writer) {
    pack(CausalContext(), writer);
    writer.varint(1);
    writer.u64(1);
    writer.u64(2);
  });
  peer_wire::RoundDigests digests;
  EXPECT_TRUE(is_taken(FrameType::kRoundDigests, digests, one)) << "of a pair there is one";
  digests.set_level(1);
  EXPECT_FALSE(is_taken(FrameType::kRoundDigests, digests, one));
  digests.add_ids(5);
  EXPECT_TRUE(is_taken(FrameType::kRoundDigests, digests, one));
  digests.add_ids(6);
  EXPECT_FALSE(is_taken(FrameType::kRoundDigests, digests, one));
}

std::string packed_leaves(const std::vector<uint8_t>& leaves) {
  return packed([&](ByteWriter& writer) {
    pack(CausalContext(), writer);
    pack(CausalContext(), writer);
    pack(std::vector<Actor>(), writer);
    writer.varint(leaves.size());
    for (const uint8_t leaf : leaves) {
      writer.u8(leaf);
      for (int i = 0; i < 16; ++i) writer.u8(0);
      writer.varint(1);
      writer.varint(1);
    }
  });
}

TEST(PeerCodecRounds, LeavesOutOfOrderOrMoreThanThereAreAreRefused) {
  const peer_wire::RoundLeaves body;
  EXPECT_TRUE(is_taken(FrameType::kRoundLeaves, body, packed_leaves({0, 1, 255})));
  EXPECT_FALSE(is_taken(FrameType::kRoundLeaves, body, packed_leaves({1, 0})));
  EXPECT_FALSE(is_taken(FrameType::kRoundLeaves, body, packed_leaves({1, 1})));
  EXPECT_FALSE(is_taken(FrameType::kRoundLeaves, body, packed_leaves(std::vector<uint8_t>(257, 1))));
}

// Before memory is taken for them: a byte of an item would become a hundred.
TEST(PeerCodecRounds, MoreKeysThanAnyWalkHasAreRefused) {
  const auto keys = [](size_t count) {
    return std::string(32, '\0') + packed([&](ByteWriter& writer) {
             writer.varint(count);
             writer.bytes(std::string(count + 1, '\0'));
           });
  };
  EXPECT_TRUE(is_taken(FrameType::kRoundWalk, peer_wire::RoundWalk(), keys(65'536)));
  EXPECT_FALSE(is_taken(FrameType::kRoundWalk, peer_wire::RoundWalk(), keys(65'537)));

  const auto entries = [](size_t count) {
    return packed([&](ByteWriter& writer) {
      pack(CausalContext(), writer);
      pack(std::vector<Actor>(), writer);
      writer.varint(count);
      writer.bytes(std::string(count * 19 + 1, '\0'));
    });
  };
  EXPECT_TRUE(is_taken(FrameType::kRoundSlice, peer_wire::RoundSlice(), entries(65'536)));
  EXPECT_FALSE(is_taken(FrameType::kRoundSlice, peer_wire::RoundSlice(), entries(65'537)));
}

TEST(PeerCodecRounds, CountsThatTheBytesBelieAreRefused) {
  for (const uint64_t count : {uint64_t{1}, uint64_t{1} << 32, ~uint64_t{0}}) {
    const std::string claim = packed([&](ByteWriter& writer) { writer.varint(count); });
    const std::string nothing = packed([](ByteWriter& writer) { pack(CausalContext(), writer); });
    EXPECT_FALSE(is_taken(FrameType::kRoundDigests, peer_wire::RoundDigests(), nothing + claim));
    EXPECT_FALSE(is_taken(FrameType::kRoundSlice, peer_wire::RoundSlice(), nothing + '\0' + claim));
    EXPECT_FALSE(
        is_taken(FrameType::kRoundLeaves, peer_wire::RoundLeaves(), nothing + nothing + '\0' + claim));
    EXPECT_FALSE(is_taken(FrameType::kRoundWalk, peer_wire::RoundWalk(), std::string(32, '\0') + claim));
    EXPECT_FALSE(is_taken(FrameType::kRoundWalk, peer_wire::RoundWalk(), std::string(33, '\0') + claim));
    EXPECT_FALSE(
        is_taken(FrameType::kRoundSlice, peer_wire::RoundSlice(), nothing + std::string(2, '\0') + claim));
    EXPECT_FALSE(is_taken(FrameType::kRoundSlice, peer_wire::RoundSlice(), claim)) << "entries of a vector";
    EXPECT_FALSE(is_taken(FrameType::kRoundSlice, peer_wire::RoundSlice(), nothing + claim)) << "actors";
  }
}

TEST(PeerCodecRounds, ListsOutOfOrderAreRefused) {
  const peer_wire::RoundSlice body;
  const auto slice = [](const std::vector<Actor>& closed, const std::vector<Dot>& dots,
                        const std::string& answered = {}) {
    return packed([&](ByteWriter& writer) {
      pack(CausalContext(), writer);
      pack(closed, writer);
      writer.varint(1);
      writer.string("k");
      writer.u64(1);
      writer.u64(2);
      pack(dots, writer);
      writer.string("");
      writer.varint(answered.size());
      for (const char leaf : answered) writer.bytes(leaf + ('\1' + std::string(16, 'h')));
    });
  };
  EXPECT_TRUE(is_taken(FrameType::kRoundSlice, body, slice({kA, kB}, {{kA, 1}, {kB, 1}})));
  EXPECT_FALSE(is_taken(FrameType::kRoundSlice, body, slice({kB, kA}, {})));
  EXPECT_FALSE(is_taken(FrameType::kRoundSlice, body, slice({kA, kA}, {})));
  EXPECT_FALSE(is_taken(FrameType::kRoundSlice, body, slice({}, {{kB, 1}, {kA, 1}})));
  EXPECT_FALSE(is_taken(FrameType::kRoundSlice, body, slice({}, {{kA, 1}, {kA, 1}})));
  EXPECT_FALSE(is_taken(FrameType::kRoundSlice, body, slice({}, {{kA, 0}}))) << "no write has the number 0";
  EXPECT_TRUE(is_taken(FrameType::kRoundSlice, body, slice({}, {}, "ab")));
  EXPECT_FALSE(is_taken(FrameType::kRoundSlice, body, slice({}, {}, "ba")));
  EXPECT_FALSE(is_taken(FrameType::kRoundSlice, body, slice({}, {}, "aa")));
}

TEST(PeerCodecRounds, EveryCutMessageIsRefused) {
  PeerCodec codec;
  for (const PeerMessage& message : sample_peer_messages(kNow)) {
    if (message.index() < PeerMessage(HintCovered()).index()) continue;  // behind it: what is packed
    std::string bytes;
    ASSERT_TRUE(codec.encode(message, {3, 17}, kNow, bytes).ok());
    Frame frame = only_frame(bytes);
    while (!frame.values.empty()) {
      frame.values.remove_suffix(1);
      EXPECT_FALSE(codec.decode(frame, {}, kNow).ok()) << message.index() << ", " << frame.values.size();
    }
  }
}

}  // namespace
}  // namespace ringkv
