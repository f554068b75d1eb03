#include <gtest/gtest.h>

#include <cmath>

#include "node/peer_codec.h"
#include "tests/node/peer_samples.h"

namespace ringkv {
namespace {

Frame only_frame(const std::string& bytes) {
  const auto frame = read_frame(bytes, kFrameBytesMax);
  EXPECT_TRUE(frame.ok() && frame->has_value());
  EXPECT_EQ((*frame)->bytes, bytes.size());
  return **frame;
}

TEST(PeerGreetingCodec, GreetingsComeBack) {
  PeerCodec codec;
  std::string bytes, again;
  codec.encode(sample_hello(), bytes);
  EXPECT_LE(bytes.size(), kUnauthenticatedFrameBytesMax);
  EXPECT_EQ(only_frame(bytes).epoch, sample_hello().epoch);
  const Result<PeerHello> hello = codec.decode_hello(only_frame(bytes));
  ASSERT_TRUE(hello.ok()) << hello.status().to_string();
  EXPECT_EQ(hello->channel, PeerChannel::kRequests);
  EXPECT_EQ(hello->to, NodeId{0xA2});
  codec.encode(*hello, again);
  EXPECT_EQ(again, bytes);

  bytes.clear(), again.clear();
  codec.encode(sample_welcome(), bytes);
  const Result<PeerWelcome> welcome = codec.decode_welcome(only_frame(bytes));
  ASSERT_TRUE(welcome.ok());
  EXPECT_EQ(welcome->generation_known, 8U);
  EXPECT_EQ(welcome->wall, 1'700'000'000'000'000U);
  EXPECT_EQ(welcome->epoch, 17U);
  codec.encode(*welcome, again);
  EXPECT_EQ(again, bytes);
}

TEST(PeerGreetingCodec, ARefusalIsTheStatusOfTheWelcome) {
  PeerCodec codec;
  std::string bytes;
  codec.encode_refusal(forbidden(std::string(100'000, 'w')), bytes);
  EXPECT_LE(bytes.size(), kUnauthenticatedFrameBytesMax);
  EXPECT_EQ(codec.decode_welcome(only_frame(bytes)).status(), forbidden(std::string(1024, 'w')));
}

TEST(PeerGreetingCodec, AJoinComesBackWithAndWithoutSettings) {
  PeerCodec codec;
  JoinRequest plain = sample_join();
  plain.replicas = plain.partitions = std::nullopt;
  plain.placer = std::nullopt;
  for (const JoinRequest& request : {sample_join(), plain}) {
    std::string bytes, again;
    codec.encode(request, bytes);
    EXPECT_LE(bytes.size(), kUnauthenticatedFrameBytesMax);
    const Result<JoinRequest> got = codec.decode_join(only_frame(bytes));
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_EQ(got->replicas, request.replicas);
    EXPECT_EQ(got->placer, request.placer);
    EXPECT_EQ(got->rack, "rack-b");
    codec.encode(*got, again);
    EXPECT_EQ(again, bytes);
  }
}

TEST(PeerGreetingCodec, AWeightThatCannotBeIsRefused) {
  PeerCodec codec;
  for (const double weight : {0.0, -1.0, 100.5, std::nan(""), HUGE_VAL}) {
    JoinRequest request = sample_join();
    request.weight = weight;
    std::string bytes;
    codec.encode(request, bytes);
    EXPECT_FALSE(codec.decode_join(only_frame(bytes)).ok()) << weight;
  }
}

TEST(PeerGreetingCodec, AJoinAnswerBringsTheRingAndThePeersOrTheReason) {
  PeerCodec codec;
  std::string bytes, refused;
  codec.encode(JoinAnswer{{}, std::string(300'000, 'r'), sample_states()}, bytes);
  const Result<JoinAnswer> answer = codec.decode_join_answer(only_frame(bytes), {});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->description, std::string(300'000, 'r'));
  EXPECT_EQ(answer->peers, sample_states());

  codec.encode(JoinAnswer{forbidden("n3 is UP"), {}, {}}, refused);
  EXPECT_EQ(codec.decode_join_answer(only_frame(refused), {})->status, forbidden("n3 is UP"));
  EXPECT_FALSE(codec.decode_join_answer(only_frame(refused), {})->not_yet);
  std::string later;
  codec.encode(JoinAnswer{unavailable("a plan comes first"), {}, {}, true}, later);
  EXPECT_TRUE(codec.decode_join_answer(only_frame(later), {})->not_yet);
}

TEST(PeerGreetingCodec, AGreetingWithoutAnIdentityIsRefused) {
  PeerCodec codec;
  for (const bool node : {true, false}) {
    PeerHello hello = sample_hello();
    if (node) hello.node = {};
    if (!node) hello.boot = {};
    std::string bytes;
    codec.encode(hello, bytes);
    EXPECT_FALSE(codec.decode_hello(only_frame(bytes)).ok());
  }
}

TEST(PeerGreetingCodec, NamesAndAddressesThatAreTooLongAreRefused) {
  PeerCodec codec;
  PeerHello named = sample_hello(), addressed = sample_hello();
  named.name.assign(65, 'n');
  addressed.client_address.assign(kAddressBytesMax + 1, 'a');
  for (const PeerHello& hello : {named, addressed}) {
    std::string bytes;
    codec.encode(hello, bytes);
    EXPECT_FALSE(codec.decode_hello(only_frame(bytes)).ok());
  }
}

}  // namespace
}  // namespace ringkv
