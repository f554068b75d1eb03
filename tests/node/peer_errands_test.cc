#include "node/peer_errands.h"

#include "tests/node/peer_links_transcript.h"

namespace ringkv {
namespace {

class PeerErrandsTranscript : public PeerLinksTranscript {
 protected:
  void identify(const Address& address, NodeId to = kPeer, Duration timeout = milliseconds(500)) {
    links.identify(address, to, timeout,
                   [this](Result<PeerWelcome> who) { found.push_back(std::move(who)); });
  }
  void join(const Address& address) {
    links.join(address, sample_join(), seconds(10),
               [this](JoinAnswer answer) { answers.push_back(std::move(answer)); });
  }

  std::vector<Result<PeerWelcome>> found;
  std::vector<JoinAnswer> answers;
};

TEST_F(PeerErrandsTranscript, WhoIsThereSaysSo) {
  identify("n9:1");
  const PeerHello hello = connected(1);
  EXPECT_EQ(hello.channel, PeerChannel::kIdentify);
  EXPECT_EQ(hello.to, kPeer);
  welcome_greeted(1);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->boot, kPeerBoot);
  EXPECT_FALSE(transport.open.contains(1));
  EXPECT_TRUE(welcomes.empty()) << "nothing is talked about there";
}

TEST_F(PeerErrandsTranscript, NobodyIsThereIsUnavailableWithItsReason) {
  identify("n9:1");
  lose(1);
  identify("n9:2");
  pass(milliseconds(500));
  identify("n9:3");
  connected(3);
  links.on_bytes(3, "SSH-2.0-OpenSSH");
  ASSERT_EQ(found.size(), 3U);
  for (const auto& nobody : found) EXPECT_EQ(nobody.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(found[0].status().message().find("n9:1"), std::string::npos);
  EXPECT_TRUE(transport.open.empty());
}

TEST_F(PeerErrandsTranscript, ARefusalIsAnAnswer) {
  identify("n9:1");
  connected(1);
  refuse(1, forbidden("this is n5"));
  EXPECT_EQ(found.at(0).status(), forbidden("this is n5"));
}

TEST_F(PeerErrandsTranscript, ADroppedNodeDoesNotIdentifyItself) {
  faults.drop(kPeer);
  identify("n9:1");
  EXPECT_TRUE(transport.dialed.empty());
  identify("n9:1", NodeId());
  connected(1);
  welcome_greeted(1);
  EXPECT_TRUE(found.empty());
  pass(milliseconds(500));
  ASSERT_EQ(found.size(), 2U);
  for (const auto& nobody : found) EXPECT_EQ(nobody.status().code(), StatusCode::kUnavailable);
}

TEST_F(PeerErrandsTranscript, AJoinIsAskedAndAnswered) {
  join("n9:1");
  links.on_connected(1);
  const std::string bytes = std::exchange(transport.output(1), {});
  const auto frame = read_frame(bytes, kUnauthenticatedFrameBytesMax);
  ASSERT_TRUE(frame.ok() && frame->has_value());
  EXPECT_EQ(codec.decode_join(**frame)->name, "n3");

  std::string answer;
  codec.encode(JoinAnswer{{}, std::string(size_t{20} << 20, 'd'), sample_states()}, answer);
  std::string_view unread = answer;
  while (answers.empty() && !unread.empty()) unread.remove_prefix(links.on_bytes(1, unread));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers[0].status.ok());
  EXPECT_EQ(answers[0].description.size(), size_t{20} << 20);
  EXPECT_EQ(answers[0].peers, sample_states());
  EXPECT_FALSE(transport.open.contains(1));
}

TEST_F(PeerErrandsTranscript, AJoinThatNobodyAnswersIsUnavailable) {
  join("n9:1");
  lose(1);
  join("n9:2");
  pass(seconds(10));
  join("n9:3");
  links.on_connected(3);
  refuse(3, forbidden("n3 is UP"));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(answers[1].status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(answers[2].status, forbidden("n3 is UP"));
}

TEST_F(PeerErrandsTranscript, QuestionsAreAnsweredWhenAllIsClosed) {
  identify("n9:1");
  join("n9:2");
  links.close_all();
  EXPECT_EQ(found.at(0).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(answers.at(0).status.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(transport.open.empty());
}

}  // namespace
}  // namespace ringkv
