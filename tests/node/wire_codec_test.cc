#include "node/wire_codec.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "tests/node/wire_samples.h"

namespace ringkv {
namespace {

Frame only_frame(const std::string& bytes) {
  const auto frame = read_frame(bytes, kFrameBytesMax);
  EXPECT_TRUE(frame.ok() && frame->has_value());
  EXPECT_EQ((*frame)->bytes, bytes.size());
  return **frame;
}

// The messages have no comparison of their own, but equal messages have equal bytes.
TEST(WireCodec, EveryRequestComesBack) {
  WireCodec codec, other;
  std::set<size_t> kinds;
  for (const ClientRequest& request : sample_requests()) {
    std::string bytes, again;
    ASSERT_TRUE(codec.encode(request, 5, 9, bytes).ok());
    const Frame frame = only_frame(bytes);
    EXPECT_EQ(frame.request, 5U);
    EXPECT_EQ(frame.epoch, 9U);

    const Result<ClientRequest> decoded = other.decode_client_request(frame);

    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    EXPECT_EQ(decoded->body.index(), request.body.index());
    EXPECT_EQ(decoded->timeout, request.timeout);
    ASSERT_TRUE(codec.encode(*decoded, 5, 9, again).ok());
    EXPECT_EQ(again, bytes);
    kinds.insert(request.body.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<ClientRequest::Body>) << "a request without a sample";
}

TEST(WireCodec, EveryFieldOfAPutComesBack) {
  WireCodec codec;
  const ClientRequest request = sample_requests()[0];
  const auto& sent = std::get<ClientPut>(request.body);
  std::string bytes;
  ASSERT_TRUE(codec.encode(request, 1, 1, bytes).ok());
  const Result<ClientRequest> decoded = codec.decode_client_request(only_frame(bytes));
  ASSERT_TRUE(decoded.ok());
  const auto& put = std::get<ClientPut>(decoded->body);
  EXPECT_EQ(put.bucket, sent.bucket);
  EXPECT_EQ(put.key, sent.key);
  EXPECT_EQ(put.value, sent.value);
  EXPECT_EQ(put.context, sent.context);
  EXPECT_EQ(put.w, sent.w);
  EXPECT_EQ(put.durability, sent.durability);
  EXPECT_EQ(put.primary, sent.primary);
  EXPECT_EQ(put.ttl_ms, sent.ttl_ms);
  EXPECT_EQ(put.operation, sent.operation);
  EXPECT_EQ(put.first_tried, sent.first_tried);
  EXPECT_EQ(put.read_first, sent.read_first);
  EXPECT_EQ(put.seen, sent.seen);
}

// A blind put and one that replaces nothing are not the same.
TEST(WireCodec, AnEmptyContextIsNotNone) {
  WireCodec codec;
  for (const bool empty : {false, true}) {
    ClientPut put;
    put.key = "k";
    if (empty) put.context = "";
    std::string bytes;
    ASSERT_TRUE(codec.encode({put, {}}, 1, 1, bytes).ok());
    const Result<ClientRequest> decoded = codec.decode_client_request(only_frame(bytes));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(std::get<ClientPut>(decoded->body).context.has_value(), empty);
  }
}

TEST(WireCodec, EveryReplyComesBack) {
  WireCodec codec, other;
  std::set<size_t> kinds;
  for (const ClientReply& reply : sample_replies()) {
    std::string bytes, again;
    codec.encode(reply, 5, bytes);

    const Result<ClientReply> decoded = other.decode_client_reply(only_frame(bytes));

    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    EXPECT_EQ(decoded->status, reply.status);
    EXPECT_EQ(decoded->body.index(), reply.body.index());
    EXPECT_EQ(decoded->epoch, 9U);
    EXPECT_EQ(decoded->boot, Boot{0x4A1B});
    EXPECT_EQ(decoded->seen, reply.seen);
    codec.encode(*decoded, 5, again);
    EXPECT_EQ(again, bytes) << "body " << reply.body.index();
    kinds.insert(reply.body.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<ClientReply::Body>) << "a reply without a sample";
}

template <class Body>
Body sent_back(const Body& body) {
  WireCodec codec;
  std::string bytes;
  codec.encode({{}, body, 9, {}, ""}, 5, bytes);
  const Result<ClientReply> decoded = codec.decode_client_reply(only_frame(bytes));
  EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
  return std::get<Body>(decoded->body);
}

TEST(WireCodec, ReportsComeBackFieldByField) {
  const auto hints = sent_back(std::vector<HintInfo>{{"n3", "n1", 412, 9000}});
  ASSERT_EQ(hints.size(), 1U);
  EXPECT_EQ(hints[0].intended, "n3");
  EXPECT_EQ(hints[0].held_by, "n1");
  EXPECT_EQ(hints[0].hints, 412U);
  EXPECT_EQ(hints[0].bytes, 9000U);

  const auto lags =
      sent_back(std::vector<LagInfo>{{"n1", "n2", 0.0, 3, 4, "gone"}, {"n3", "n2", {}, 0, 0, ""}});
  ASSERT_EQ(lags.size(), 2U);
  EXPECT_EQ(lags[0].from, "n1");
  EXPECT_EQ(lags[0].to, "n2");
  EXPECT_EQ(lags[0].lag_seconds, 0.0) << "just now isn't never";
  EXPECT_EQ(lags[0].differing_partitions, 3U);
  EXPECT_EQ(lags[0].behind, 4U);
  EXPECT_EQ(lags[0].problem, "gone");
  EXPECT_EQ(lags[1].lag_seconds, std::nullopt);

  const auto repair = sent_back(RepairReport{1, 2, 3, 4, true, {"why"}, {0, 65535}});
  EXPECT_EQ(repair.differences, 1U);
  EXPECT_EQ(repair.keys_sent, 2U);
  EXPECT_EQ(repair.bytes_sent, 3U);
  EXPECT_EQ(repair.partitions, 4U);
  EXPECT_TRUE(repair.partial);
  EXPECT_EQ(repair.problems, std::vector<std::string>{"why"});
  EXPECT_EQ(repair.accepted_loss, (std::vector<uint32_t>{0, 65535}));

  const auto purge = sent_back(PurgeReport{1, 2, {"why"}});
  EXPECT_EQ(purge.erased, 1U);
  EXPECT_EQ(purge.blocked, 2U);
  EXPECT_EQ(purge.blocked_by, std::vector<std::string>{"why"});

  const auto scrub = sent_back(ScrubReport{1, 2, 3, {"why"}});
  EXPECT_EQ(scrub.partitions, 1U);
  EXPECT_EQ(scrub.records, 2U);
  EXPECT_EQ(scrub.leaves_corrected, 3U);
  EXPECT_EQ(scrub.problems, std::vector<std::string>{"why"});
}

TEST(WireCodec, AnExplainedReplicaComesBackFieldByField) {
  const auto explanation = sent_back(
      Explanation{1, 2, 3, {{"n1", "a", true, {}, "n3", false, {"why", "and why"}}, {"n2", "b"}}, {"found"}});
  ASSERT_EQ(explanation.replicas.size(), 2U);
  EXPECT_EQ(explanation.replicas[0].hint_for, "n3");
  EXPECT_FALSE(explanation.replicas[0].whole);
  EXPECT_EQ(explanation.replicas[0].blocked_by, (std::vector<std::string>{"why", "and why"}));
  EXPECT_TRUE(explanation.replicas[1].whole);
  EXPECT_EQ(explanation.would_answer, std::vector<std::string>{"found"});
}

TEST(WireCodec, ARepairOfPartitionZeroIsNotOneOfAll) {
  WireCodec codec;
  const auto sent = [&](const ClientRepair& repair) {
    std::string bytes;
    EXPECT_TRUE(codec.encode({repair, {}}, 1, 1, bytes).ok());
    return std::get<ClientRepair>(codec.decode_client_request(only_frame(bytes))->body);
  };
  EXPECT_EQ(sent({"n1", 0, false}).partition, 0U);
  EXPECT_EQ(sent({"n1", 0, false}).node, "n1");
  EXPECT_EQ(sent({"", {}, true}).partition, std::nullopt);
  EXPECT_TRUE(sent({"", {}, true}).accept_loss);
}

TEST(WireCodec, ValuesComeBackInOrderWithTheirEmptyOnes) {
  WireCodec codec;
  std::string bytes;
  codec.encode(sample_replies()[2], 5, bytes);
  const Result<ClientReply> decoded = codec.decode_client_reply(only_frame(bytes));
  ASSERT_TRUE(decoded.ok());
  const auto& result = std::get<GetResult>(decoded->body);
  EXPECT_EQ(result.values, (std::vector<std::string>{"", std::string("a\0b", 3), "c"}));
  EXPECT_EQ(result.context, Context("seen"));
  EXPECT_TRUE(result.unconfirmed);
}

TEST(WireCodec, EveryFieldOfAMemberComesBack) {
  WireCodec codec;
  for (const ClientReply& reply : sample_replies()) {
    const auto* sent = std::get_if<ClusterStatus>(&reply.body);
    if (sent == nullptr) continue;
    std::string bytes;
    codec.encode(reply, 5, bytes);
    const Result<ClientReply> decoded = codec.decode_client_reply(only_frame(bytes));
    ASSERT_TRUE(decoded.ok());
    const auto& status = std::get<ClusterStatus>(decoded->body);
    EXPECT_TRUE(status.change_under_way);
    ASSERT_EQ(status.members.size(), 2U);
    EXPECT_EQ(status.members[0].peer_address, "n1:7400");
    EXPECT_EQ(status.members[0].client_address, "n1:7401");
    EXPECT_EQ(status.members[0].epoch, 9U);
    EXPECT_EQ(status.members[0].hints, 3U);
    EXPECT_EQ(status.members[0].hint_bytes, 4U);
    EXPECT_EQ(status.members[0].lag_seconds, 0.5);
    EXPECT_EQ(status.members[0].skew_seconds, -2.5);
    EXPECT_EQ(status.members[0].incomplete_partitions, 6U);
    EXPECT_FALSE(status.members[1].epoch.has_value());
    EXPECT_FALSE(status.members[1].skew_seconds.has_value());
    EXPECT_FALSE(status.members[1].incomplete_partitions.has_value());
  }
}

TEST(WireCodec, ARoutingTableComesBack) {
  WireCodec codec;
  const RoutingTable sent{std::string("ring\0\xFF", 6), {{NodeId{7}, "n1:7401"}, {NodeId{8}, ""}}};
  std::string bytes;
  codec.encode({{}, sent, 9, {}, ""}, 5, bytes);
  const Result<ClientReply> decoded = codec.decode_client_reply(only_frame(bytes));
  ASSERT_TRUE(decoded.ok());
  const auto& table = std::get<RoutingTable>(decoded->body);
  EXPECT_EQ(table.description, sent.description);
  ASSERT_EQ(table.addresses.size(), 2U);
  EXPECT_EQ(table.addresses[0].node, NodeId{7});
  EXPECT_EQ(table.addresses[0].address, "n1:7401");
  EXPECT_EQ(table.addresses[1].address, "");
}

TEST(WireCodec, AFaultComesBackAndAnUnknownOneIsRefused) {
  WireCodec codec;
  std::string bytes, unknown;
  ASSERT_TRUE(codec.encode({ClientFault{ClientFault::Kind::kDelay, "n2", 150}, {}}, 1, 1, bytes).ok());
  const Result<ClientRequest> decoded = codec.decode_client_request(only_frame(bytes));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<ClientFault>(decoded->body).kind, ClientFault::Kind::kDelay);
  EXPECT_EQ(std::get<ClientFault>(decoded->body).peer, "n2");
  EXPECT_EQ(std::get<ClientFault>(decoded->body).delay_ms, 150U);
  bytes.clear();
  ASSERT_TRUE(codec.encode({ClientFault{ClientFault::Kind::kClock, "n2", 0, -5000}, {}}, 1, 1, bytes).ok());
  const Result<ClientRequest> clock = codec.decode_client_request(only_frame(bytes));
  ASSERT_TRUE(clock.ok());
  EXPECT_EQ(std::get<ClientFault>(clock->body).kind, ClientFault::Kind::kClock);
  EXPECT_EQ(std::get<ClientFault>(clock->body).offset_ms, -5000);

  ASSERT_TRUE(codec.encode({ClientFault{ClientFault::Kind{7}, "", 0}, {}}, 1, 1, unknown).ok());
  EXPECT_FALSE(codec.decode_client_request(only_frame(unknown)).ok());
}

TEST(WireCodec, TheHandshakeComesBack) {
  WireCodec codec;
  std::string hello, welcome, refusal;
  codec.encode(Hello{1, 0xC1}, hello);
  codec.encode(Welcome{1, {2}, {3}, "n1", {4}}, 9, welcome);
  codec.encode_refusal(forbidden("another cluster"), refusal);
  EXPECT_LE(hello.size(), kUnauthenticatedFrameBytesMax);

  EXPECT_EQ(codec.decode_hello(only_frame(hello))->client, 0xC1U);
  const Result<Welcome> welcomed = codec.decode_welcome(only_frame(welcome));
  ASSERT_TRUE(welcomed.ok());
  EXPECT_EQ(welcomed->cluster, ClusterId{2});
  EXPECT_EQ(welcomed->node, NodeId{3});
  EXPECT_EQ(welcomed->name, "n1");
  EXPECT_EQ(welcomed->boot, Boot{4});
  EXPECT_EQ(only_frame(welcome).epoch, 9U);
  EXPECT_EQ(codec.decode_welcome(only_frame(refusal)).status(), forbidden("another cluster"));
}

TEST(WireCodec, AnotherTypeIsRefused) {
  WireCodec codec;
  std::string hello;
  codec.encode(Hello{}, hello);
  EXPECT_FALSE(codec.decode_client_request(only_frame(hello)).ok());
  EXPECT_FALSE(codec.decode_client_reply(only_frame(hello)).ok());
  EXPECT_FALSE(codec.decode_welcome(only_frame(hello)).ok());
}

// The longest value with the longest key and a context fits; keys and values that are one byte too long too,
// so that a node can say so.
TEST(WireCodec, TheLargestPutFitsAndALittleMore) {
  WireCodec codec;
  ClientPut put;
  put.key.assign(kKeyBytesMax + 1, 'k');
  put.value.assign(kValueBytesMax + 1, 'v');
  put.context = std::string(100'000, 'c');
  std::string bytes;
  ASSERT_TRUE(codec.encode({put, {}}, 1, 1, bytes).ok());
  const Result<ClientRequest> decoded = codec.decode_client_request(only_frame(bytes));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<ClientPut>(decoded->body).value.size(), kValueBytesMax + 1);

  put.value.assign(kFrameBytesMax, 'v');
  std::string untouched;
  EXPECT_EQ(codec.encode({put, {}}, 1, 1, untouched).code(), StatusCode::kTooLarge);
  EXPECT_TRUE(untouched.empty());
}

// Siblings of 16 MiB each are one answer, in several frames.
TEST(WireCodec, AReplyLargerThanAFrameTravelsInParts) {
  WireCodec codec;
  GetResult result;
  for (int i = 0; i < 3; ++i)
    result.values.push_back(std::string(kValueBytesMax, static_cast<char>('a' + i)));
  std::string bytes;
  codec.encode({{}, result, 9, {}, ""}, 5, bytes);

  std::string_view rest = bytes;
  std::string earlier;
  for (;;) {
    const auto frame = read_frame(rest, kFrameBytesMax);
    ASSERT_TRUE(frame.ok() && frame->has_value());
    EXPECT_EQ((*frame)->request, 5U);
    rest.remove_prefix((*frame)->bytes);
    if ((*frame)->type == FrameType::kClientReplyValues) {
      earlier += (*frame)->values;
      continue;
    }
    EXPECT_TRUE(rest.empty());
    const Result<ClientReply> decoded = codec.decode_client_reply(**frame, earlier);
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    EXPECT_EQ(std::get<GetResult>(decoded->body).values, result.values);
    break;
  }
}

TEST(WireCodec, AReplyThatNobodyCouldTakeBecomesTooLarge) {
  WireCodec codec;
  GetResult result;
  for (int i = 0; i < 6; ++i) result.values.push_back(std::string(kValueBytesMax, 'x'));
  std::string bytes;
  codec.encode({{}, result, 9, {7}, ""}, 5, bytes);
  const Result<ClientReply> decoded = codec.decode_client_reply(only_frame(bytes));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->status.code(), StatusCode::kTooLarge);
  EXPECT_EQ(decoded->boot, Boot{7});
}

TEST(WireCodec, ValuesThatDontAddUpAreRefused) {
  WireCodec codec;
  std::string bytes;
  codec.encode(sample_replies()[2], 5, bytes);
  Frame frame = only_frame(bytes);
  frame.values.remove_suffix(1);
  EXPECT_FALSE(codec.decode_client_reply(frame).ok());
  frame = only_frame(bytes);
  EXPECT_FALSE(codec.decode_client_reply(frame, "more").ok());

  std::string request;
  ASSERT_TRUE(codec.encode(sample_requests()[3], 5, 1, request).ok());
  frame = only_frame(request);
  frame.values = "not a put";
  EXPECT_FALSE(codec.decode_client_request(frame).ok());
}

TEST(WireCodec, AnEndlessTimeoutIsCut) {
  WireCodec codec;
  std::string bytes;
  ASSERT_TRUE(codec.encode({ClientStatus{}, Duration::max()}, 1, 1, bytes).ok());
  EXPECT_EQ(codec.decode_client_request(only_frame(bytes))->timeout, std::chrono::hours(24));
}

// Behind a right checksum: whatever the message says, it is decoded or refused.
TEST(WireCodec, MutatedMessagesNeverHarm) {
  WireCodec codec;
  std::vector<std::string> frames;
  for (const ClientRequest& request : sample_requests())
    ASSERT_TRUE(codec.encode(request, 5, 9, frames.emplace_back()).ok());
  for (const ClientReply& reply : sample_replies()) codec.encode(reply, 5, frames.emplace_back());
  codec.encode(Hello{1, 2}, frames.emplace_back());
  codec.encode(Welcome{1, {2}, {3}, "n1", {4}}, 9, frames.emplace_back());

  SeededRandom random(1);
  size_t refused = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Frame good = only_frame(frames[random.below(frames.size())]);
    std::string message(good.message), values(good.values);
    for (uint64_t flips = 1 + random.below(4); flips > 0 && !message.empty(); --flips) {
      char& byte = message[random.below(message.size())];
      byte = static_cast<char>(byte ^ 1 << random.below(8));
    }
    if (random.one_in(4)) message.resize(random.below(message.size() + 1));
    if (random.one_in(4)) values.resize(random.below(values.size() + 1));
    Frame frame = good;
    frame.message = message;
    frame.values = values;
    const bool ok = frame.type == FrameType::kClientRequest ? codec.decode_client_request(frame).ok()
                    : frame.type == FrameType::kClientReply ? codec.decode_client_reply(frame).ok()
                    : frame.type == FrameType::kHello       ? codec.decode_hello(frame).ok()
                                                            : codec.decode_welcome(frame).ok();
    refused += ok ? 0 : 1;
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, 99'000U);
}

}  // namespace
}  // namespace ringkv
