#include "node/peer_codec.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "base/ring_description.h"
#include "node/peer_channel.h"
#include "node/peer_wire.pb.h"
#include "storage/record_codec.h"
#include "tests/node/peer_samples.h"

namespace ringkv {
namespace {

constexpr Time kNow{std::chrono::hours(5)};
constexpr SenderRing kRing{3, 17};

Frame only_frame(const std::string& bytes) {
  const auto frame = read_frame(bytes, kFrameBytesMax);
  EXPECT_TRUE(frame.ok() && frame->has_value());
  EXPECT_EQ((*frame)->bytes, bytes.size());
  return **frame;
}

std::string encoded(const PeerMessage& message) {
  PeerCodec codec;
  std::string bytes;
  const Status status = codec.encode(message, kRing, kNow, bytes);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return bytes;
}

// As the door does: parts are collected until the message comes.
Result<ReceivedPeerMessage> decoded(std::string_view stream, size_t* frames = nullptr) {
  PeerCodec codec;
  std::string parts;
  while (true) {
    const auto frame = read_frame(stream, kFrameBytesMax);
    EXPECT_TRUE(frame.ok() && frame->has_value());
    if (frames != nullptr) ++*frames;
    if ((*frame)->type != FrameType::kPeerValues) return codec.decode(**frame, std::move(parts), kNow);
    parts.append((*frame)->values);
    stream.remove_prefix((*frame)->bytes);
  }
}

template <class Message>
Message sent_through(const Message& message) {
  const Result<ReceivedPeerMessage> received = decoded(encoded(message));
  EXPECT_TRUE(received.ok()) << received.status().to_string();
  return std::get<Message>(received->message);
}

// A frame as some other program might make it.
template <class Body>
Result<ReceivedPeerMessage> decoded_body(FrameType type, const Body& body, std::string_view values = {}) {
  std::string bytes;
  FrameWriter frame(bytes, type, 0, 0);
  body.AppendToString(&bytes);
  frame.begin_values();
  bytes.append(values);
  frame.finish();
  PeerCodec codec;
  return codec.decode(only_frame(bytes), {}, kNow);
}

// The messages have no comparison of their own, but equal messages have equal bytes.
TEST(PeerCodec, EveryMessageComesBack) {
  std::set<size_t> kinds;
  for (const PeerMessage& message : sample_peer_messages(kNow)) {
    const std::string bytes = encoded(message);
    const Result<ReceivedPeerMessage> received = decoded(bytes);
    ASSERT_TRUE(received.ok()) << message.index() << ": " << received.status().to_string();
    EXPECT_EQ(received->message.index(), message.index());
    EXPECT_EQ(received->ring, kRing);
    EXPECT_EQ(encoded(received->message), bytes) << "message " << message.index();
    kinds.insert(message.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<PeerMessage>) << "a message without a sample";
}

TEST(PeerCodec, EveryFieldOfAReplicaPutComesBackButItsPlace) {
  ReplicaPut put{5,
                 {},
                 "b",
                 "k",
                 std::make_shared<const std::string>("record"),
                 Conflict::kLastWriterWins,
                 Source::kHint,
                 false,
                 kNow + kSampleTimeout};
  put.place.storage_key = "never sent";
  const ReplicaPut got = sent_through(put);
  EXPECT_EQ(got.request, 5U);
  EXPECT_EQ(got.bucket, "b");
  EXPECT_EQ(got.key, "k");
  EXPECT_EQ(*got.record, "record");
  EXPECT_EQ(got.conflict, Conflict::kLastWriterWins);
  EXPECT_EQ(got.source, Source::kHint);
  EXPECT_FALSE(got.sync);
  EXPECT_EQ(got.deadline, put.deadline);
  EXPECT_EQ(got.place.storage_key, "");
}

TEST(PeerCodec, ARecordComesBackWithItsHash) {
  const ReplicaGetReply got = sent_through(ReplicaGetReply{6, {0xA1}, {}, false, sample_record(), {1, 2}});
  EXPECT_EQ(got.request, 6U);
  EXPECT_EQ(got.replica, NodeId{0xA1});
  EXPECT_EQ(got.record, sample_record());
  EXPECT_EQ(got.hash, (Hash128{1, 2}));
}

TEST(PeerCodec, ADigestBringsTheContextWithoutVersions) {
  Record contextual = sample_record();
  contextual.versions.clear();
  const ReplicaGetReply got = sent_through(ReplicaGetReply{6, {0xA1}, {}, true, contextual, {1, 2}});
  EXPECT_TRUE(got.digest);
  EXPECT_EQ(got.record, contextual);
}

TEST(PeerCodec, GossipComesBackFieldByField) {
  const auto states = sent_through(StateDeltas{sample_states(), {{7}}});
  EXPECT_EQ(states.states, sample_states());
  EXPECT_EQ(states.wanted, std::vector<NodeId>{{7}});
  const HealthClaim claim{{1}, 2, 3, Health::kDown, {4}};
  EXPECT_EQ(sent_through(ProbeAck{9, {8}, {claim}}).claims, std::vector<HealthClaim>{claim});
  EXPECT_EQ(sent_through(ProbeAck{9, {8}, {claim}}).target, NodeId{8});
  const Promise promise =
      sent_through(Promise{18, {1, {2}, {3}}, {{4}, {5}, {6}}, {7, {8}, {9}}, {}, "value"});
  EXPECT_EQ(promise.voter, (Voter{{4}, {5}, {6}}));
  EXPECT_EQ(promise.promised, (Ballot{7, {8}, {9}}));
  EXPECT_FALSE(promise.accepted);
  EXPECT_EQ(promise.value, "value");
}

TEST(PeerCodec, ScannedRecordsComeBackInOrderWithTheirKeys) {
  const auto record = [](std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); };
  const ReplicaScanReply got = sent_through(
      ReplicaScanReply{7, {1}, {}, {{"a", record("1")}, {"bb", record("")}, {"", record("3")}}, "c", true});
  ASSERT_EQ(got.entries.size(), 3U);
  EXPECT_EQ(got.entries[0].storage_key, "a");
  EXPECT_EQ(*got.entries[0].record, "1");
  EXPECT_EQ(got.entries[1].storage_key, "bb");
  EXPECT_EQ(*got.entries[1].record, "");
  EXPECT_EQ(*got.entries[2].record, "3");
  EXPECT_EQ(got.last, "c");
  EXPECT_TRUE(got.at_end);
}

TEST(PeerCodec, AForwardedRequestCarriesItsDeadlineInsteadOfItsTimeout) {
  const ForwardedRequest got = sent_through(
      ForwardedRequest{8, {ClientGet{"b", "k", 2, true}, std::chrono::hours(9)}, kNow + kSampleTimeout});
  EXPECT_EQ(got.deadline, kNow + kSampleTimeout);
  EXPECT_EQ(got.body.timeout, kSampleTimeout);
  EXPECT_EQ(std::get<ClientGet>(got.body.body).key, "k");
}

TEST(PeerCodec, DeadlinesTravelAsWhatIsLeftOfThem) {
  const auto deadline_of = [](Time deadline) {
    return sent_through(ReplicaGet{1, {}, "", "k", false, false, false, deadline}).deadline;
  };
  EXPECT_EQ(deadline_of(kNow + std::chrono::microseconds(1)), kNow + std::chrono::microseconds(1));
  EXPECT_EQ(deadline_of(kNow - std::chrono::hours(1)), kNow);
  EXPECT_EQ(deadline_of(Time{}), kNow);
  EXPECT_EQ(deadline_of(Time::max()), kNow + kPeerTimeoutMax);
}

TEST(PeerCodec, ATimeoutPastTheMaximumIsCut) {
  peer_wire::ReplicaGet body;
  body.set_key("k");
  body.set_timeout_us(~0ULL);
  const auto received = decoded_body(FrameType::kReplicaGet, body);
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(std::get<ReplicaGet>(received->message).deadline, kNow + kPeerTimeoutMax);
}

// ---- what is large

Record record_of(size_t versions, size_t value_bytes) {
  Record record;
  const Actor actor{{1}, {2}};
  record.context.vector.raise(actor, versions);
  for (uint64_t i = 1; i <= versions; ++i) {
    std::string value(value_bytes, static_cast<char>('a' + i % 26));
    record.versions.push_back({{actor, i}, VersionKind::kValue, i, 0, std::move(value), {}, Source::kPut});
  }
  return record;
}

TEST(PeerCodec, ARecordLargerThanAFrameTravelsInParts) {
  const Record record = record_of(2, 10 << 20);
  auto bytes_of_record = std::make_shared<std::string>();
  encode_record(record, {}, 0, *bytes_of_record);
  const auto small = std::make_shared<const std::string>("x");
  for (const PeerMessage& message :
       {PeerMessage(ReplicaPut{5, {}, "b", "k", bytes_of_record, {}, {}, true, kNow}),
        PeerMessage(ReplicaGetReply{5, {1}, {}, false, record, {}}),
        PeerMessage(ReplicaScanReply{5, {1}, {}, {{"a", bytes_of_record}, {"b", small}}, "", false})}) {
    size_t frames = 0;
    const std::string bytes = encoded(message);
    const Result<ReceivedPeerMessage> received = decoded(bytes, &frames);
    ASSERT_TRUE(received.ok()) << received.status().to_string();
    EXPECT_EQ(frames, 2U);
    EXPECT_TRUE(encoded(received->message) == bytes);
  }
}

// Whatever is before it in the output stays.
TEST(PeerCodec, PartsAreAppendedToo) {
  PeerCodec codec;
  std::string bytes = encoded(Probe{1, {}});
  const size_t before = bytes.size();
  const auto large = std::make_shared<const std::string>(kFrameBytesMax, 'r');
  ASSERT_TRUE(codec.encode(ReplicaPut{5, {}, "b", "k", large, {}, {}, true, kNow}, kRing, kNow, bytes).ok());
  EXPECT_EQ(bytes.substr(0, before), encoded(Probe{1, {}}));
  EXPECT_TRUE(decoded(std::string_view(bytes).substr(before)).ok());
}

// Frame by frame around the size at which a message no longer fits into one.
TEST(PeerCodec, TheLastByteThatFitsIntoAFrameAndTheFirstThatDoesNot) {
  const auto frames_of = [](size_t record_bytes) {
    ReplicaPut put{5,  {}, "b",  "k", std::make_shared<const std::string>(record_bytes, 'r'),
                   {}, {}, true, kNow};
    size_t frames = 0;
    const auto received = decoded(encoded(put), &frames);
    EXPECT_TRUE(received.ok());
    EXPECT_EQ(*std::get<ReplicaPut>(received->message).record, *put.record);
    return frames;
  };
  const size_t around =
      encoded(ReplicaPut{5, {}, "b", "k", std::make_shared<const std::string>(), {}, {}, true, kNow}).size();
  EXPECT_EQ(frames_of(kFrameBytesMax - around), 1U);
  EXPECT_EQ(frames_of(kFrameBytesMax - around + 1), 2U);
}

TEST(PeerCodec, WhatIsTooLargeIsRefusedAndLeavesNothingBehind) {
  PeerCodec codec;
  const auto huge = std::make_shared<const std::string>(kPeerMessageBytesMax, 'r');
  std::string bytes = "before";
  EXPECT_EQ(codec.encode(ReplicaPut{5, {}, "b", "k", huge, {}, {}, true, kNow}, kRing, kNow, bytes).code(),
            StatusCode::kTooLarge);
  EXPECT_EQ(codec
                .encode(ReplicaScan{5, "b", std::string(2 << 20, 'p'), "", {}, 1, false, false, kNow}, kRing,
                        kNow, bytes)
                .code(),
            StatusCode::kTooLarge);
  ClientPut put;
  put.value.assign(kFrameBytesMax, 'v');
  EXPECT_EQ(codec.encode(ForwardedRequest{5, {put, {}}, kNow}, kRing, kNow, bytes).code(),
            StatusCode::kTooLarge);
  EXPECT_EQ(bytes, "before");
}

TEST(PeerCodec, AForwardedReplyOfSeveralFramesBecomesTooLarge) {
  GetResult result;
  for (int i = 0; i < 3; ++i) result.values.emplace_back(10 << 20, 'v');
  const ForwardedReply got = sent_through(ForwardedReply{8, {{}, result, 9, {0xB1}}});
  EXPECT_EQ(got.request, 8U);
  EXPECT_EQ(got.reply.status.code(), StatusCode::kTooLarge);
  EXPECT_EQ(got.reply.boot, Boot{0xB1});
  EXPECT_EQ(got.reply.epoch, 9U);
}

// A frame within a frame: together they may need two.
TEST(PeerCodec, TheLargestPutCanBeForwarded) {
  ClientPut put;
  put.key.assign(kKeyBytesMax, 'k');
  put.value.assign(kFrameBytesMax - kKeyBytesMax - 100, 'v');
  const ForwardedRequest got = sent_through(ForwardedRequest{8, {put, {}}, kNow});
  EXPECT_EQ(std::get<ClientPut>(got.body.body).value, put.value);
}

TEST(PeerCodec, ADescriptionOfTheLargestRingFits) {
  StateDeltas deltas;
  PeerState state = sample_states()[0];
  state.peer_address.assign(260, 'p');
  state.client_address.assign(260, 'c');
  deltas.states.assign(kMembersMax, state);
  EXPECT_EQ(sent_through(deltas).states.size(), kMembersMax);
  ReplicaScan scan{7,     "b", std::string(kKeyBytesMax, 'p'), std::string(kKeyBytesMax, 'a'), {}, 1, true,
                   false, kNow};
  for (Partition partition = 0; partition < kPartitionsMax; ++partition) scan.partitions.push_back(partition);
  EXPECT_EQ(sent_through(scan).partitions, scan.partitions);
}

// ---- what nobody should send

TEST(PeerCodec, NumbersThatNameNothingAreRefused) {
  peer_wire::ReplicaPut put;
  put.set_key("k");
  EXPECT_TRUE(decoded_body(FrameType::kReplicaPut, put).ok());
  put.set_conflict(2);
  EXPECT_FALSE(decoded_body(FrameType::kReplicaPut, put).ok());
  put.set_conflict(0);
  put.set_source(5);
  EXPECT_FALSE(decoded_body(FrameType::kReplicaPut, put).ok());

  peer_wire::ReplicaPutAck ack;
  ack.mutable_status()->set_code(12);
  EXPECT_FALSE(decoded_body(FrameType::kReplicaPutAck, ack).ok());

  peer_wire::Probe probe;
  probe.add_claims()->set_health(3);
  EXPECT_FALSE(decoded_body(FrameType::kProbe, probe).ok());
}

TEST(PeerCodec, KeysThatCannotBeAreRefused) {
  for (const size_t bytes : {size_t{0}, kKeyBytesMax + 1}) {
    peer_wire::ReplicaGet get;
    get.set_key(std::string(bytes, 'k'));
    EXPECT_FALSE(decoded_body(FrameType::kReplicaGet, get).ok()) << bytes;
    peer_wire::ReplicaPut put;
    put.set_key(std::string(bytes, 'k'));
    EXPECT_FALSE(decoded_body(FrameType::kReplicaPut, put).ok()) << bytes;
  }
}

TEST(PeerCodec, ListsLongerThanAnyClusterAreRefused) {
  peer_wire::StateDigests digests;
  for (uint32_t i = 0; i <= 2 * kMembersMax; ++i) digests.add_digests();
  EXPECT_FALSE(decoded_body(FrameType::kStateDigests, digests).ok());
  peer_wire::ReplicaScan scan;
  for (uint32_t i = 0; i <= kPartitionsMax; ++i) scan.add_partitions(i);
  EXPECT_FALSE(decoded_body(FrameType::kReplicaScan, scan).ok());
}

// Before a parser makes objects of it.
TEST(PeerCodec, ABodyOfManyBytesIsRefusedUnparsed) {
  peer_wire::Probe probe;
  for (int i = 0; i < 600'000; ++i) probe.add_claims();
  const auto received = decoded_body(FrameType::kProbe, probe);
  EXPECT_NE(received.status().message().find("without its values"), std::string::npos)
      << received.status().message();
}

TEST(PeerCodec, ValuesWhereThereAreNoneAndTooManyAreRefused) {
  EXPECT_FALSE(decoded_body(FrameType::kProbe, peer_wire::Probe(), "v").ok());
  peer_wire::ReplicaScanReply reply;
  reply.add_storage_key_bytes(1);
  reply.add_record_bytes(2);
  EXPECT_TRUE(decoded_body(FrameType::kReplicaScanReply, reply, "abc").ok());
  EXPECT_FALSE(decoded_body(FrameType::kReplicaScanReply, reply, "abcd").ok());
  EXPECT_FALSE(decoded_body(FrameType::kReplicaScanReply, reply, "ab").ok());
  reply.set_record_bytes(0, ~0ULL);
  EXPECT_FALSE(decoded_body(FrameType::kReplicaScanReply, reply, "abc").ok());
  reply.add_record_bytes(0);
  EXPECT_FALSE(decoded_body(FrameType::kReplicaScanReply, reply, "abc").ok());
}

TEST(PeerCodec, ADamagedRecordIsRefused) {
  EXPECT_FALSE(decoded_body(FrameType::kReplicaGetReply, peer_wire::ReplicaGetReply(), "\x01garbage").ok());
}

TEST(PeerCodec, WhatIsForwardedMustBeOneWholeFrame) {
  std::string request;
  WireCodec client_codec;
  ASSERT_TRUE(client_codec.encode(ClientRequest{ClientGet{.key = "k"}, {}}, 0, 0, request).ok());
  const peer_wire::ForwardedRequest body;
  EXPECT_TRUE(decoded_body(FrameType::kForwardedRequest, body, request).ok());
  EXPECT_FALSE(decoded_body(FrameType::kForwardedRequest, body, request + "x").ok());
  EXPECT_FALSE(decoded_body(FrameType::kForwardedRequest, body, request.substr(1)).ok());
  EXPECT_FALSE(decoded_body(FrameType::kForwardedRequest, body, "").ok());
  EXPECT_FALSE(decoded_body(FrameType::kForwardedReply, peer_wire::ForwardedReply(), request).ok());
}

TEST(PeerCodec, UnknownTypesAreRefusedAndUnknownFieldsAreNot) {
  EXPECT_FALSE(decoded_body(static_cast<FrameType>(200), peer_wire::Probe()).ok());
  EXPECT_FALSE(decoded_body(FrameType::kPeerHello, peer_wire::Hello()).ok());
  Frame later;
  later.type = FrameType::kRingWanted;
  later.message = "\xA0\x06\x07\x78\x03";  // field 100, a varint; then the lineage
  PeerCodec codec;
  const auto received = codec.decode(later, {}, kNow);
  ASSERT_TRUE(received.ok()) << received.status().to_string();
  EXPECT_EQ(received->ring.lineage, 3U);
}

TEST(PeerCodec, RandomBytesNeverHarm) {
  std::vector<FrameType> types;
  for (int type = 32; type < 80; ++type) types.push_back(static_cast<FrameType>(type));
  PeerCodec codec;
  for (uint64_t seed = 1; seed <= 60'000; ++seed) {
    SeededRandom random(seed);
    std::string body(random.below(60), '\0'), values(random.below(20), '\0');
    for (char& byte : body) byte = static_cast<char>(random.one_in(2) ? random.below(24) : random.next());
    for (char& byte : values) byte = static_cast<char>(random.next());
    Frame frame;
    frame.type = types[random.below(types.size())];
    frame.message = body;
    frame.values = values;
    (void)codec.decode(frame, {}, kNow);
    (void)codec.decode_hello(frame);
    (void)codec.decode_welcome(frame);
    (void)codec.decode_join(frame);
    (void)codec.decode_join_answer(frame, {});
  }
}

// Each message with one bit flipped, behind a right checksum: refused, or some other message.
TEST(PeerCodec, AFlippedBitNeverHarms) {
  PeerCodec codec;
  for (const PeerMessage& message : sample_peer_messages(kNow)) {
    const std::string bytes = encoded(message);
    if (bytes.size() > 2000) continue;
    for (size_t bit = kFrameHeaderBytes * 8; bit < bytes.size() * 8; ++bit) {
      std::string wrong = bytes;
      wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
      Frame frame = only_frame(bytes);
      const size_t message_bytes = frame.message.size();
      frame.message = std::string_view(wrong).substr(kFrameHeaderBytes, message_bytes);
      frame.values = std::string_view(wrong).substr(kFrameHeaderBytes + message_bytes);
      const Result<ReceivedPeerMessage> received = codec.decode(frame, {}, kNow);
      std::string again;
      if (received.ok()) {
        EXPECT_TRUE(codec.encode(received->message, received->ring, kNow, again).ok());
      }
    }
  }
}

TEST(PeerCodec, GossipGoesOnTheControlChannelAndTheRestOnTheOther) {
  EXPECT_EQ(channel_of(Probe{}), PeerChannel::kControl);
  EXPECT_EQ(channel_of(RingChosen{}), PeerChannel::kControl);
  EXPECT_EQ(channel_of(Accepted{}), PeerChannel::kControl);
  EXPECT_EQ(channel_of(ReplicaPut{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(ReplicaPutAck{}), PeerChannel::kRequests);
  EXPECT_EQ(channel_of(ForwardedReply{}), PeerChannel::kRequests);
}

}  // namespace
}  // namespace ringkv
