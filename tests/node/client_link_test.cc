#include "node/client_link.h"

#include <gtest/gtest.h>

#include "node/client_node.h"
#include "tests/node/fake_transport.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;

class ClientLinkTest : public testing::Test {
 protected:
  ClientLinkTest() {
    link.dial(node.address(), now + std::chrono::seconds(1));
    link.serve({});
  }
  ClientLink::Quiet listen_after(Duration quiet) { return link.listen(now + quiet); }

  FakeTransport transport;
  SeededRandom random{1};
  ClientGround ground{ClientOptions{}, transport, random};
  ClientNode node{ground, "n1:1", true};
  ClientLink& link = node.links().front();
  Time now{std::chrono::hours(1)};
};

TEST_F(ClientLinkTest, QuietMeansNothingWhileNoAnswerIsDue) {
  EXPECT_EQ(listen_after(std::chrono::hours(1)), ClientLink::Quiet::kNo);
  link.on_sent(now);
  link.on_heard(now);
  link.on_answered();
  EXPECT_EQ(listen_after(std::chrono::hours(1)), ClientLink::Quiet::kNo);
}

TEST_F(ClientLinkTest, AQuietNodeIsAskedOnceThenSilentThenGone) {
  link.on_sent(now);
  EXPECT_EQ(listen_after(milliseconds(249)), ClientLink::Quiet::kNo);
  EXPECT_EQ(listen_after(milliseconds(250)), ClientLink::Quiet::kToBeAsked);
  EXPECT_EQ(listen_after(milliseconds(260)), ClientLink::Quiet::kNo);
  EXPECT_TRUE(link.usable());
  EXPECT_EQ(listen_after(milliseconds(500)), ClientLink::Quiet::kSilent);
  EXPECT_FALSE(link.usable());
  EXPECT_EQ(listen_after(milliseconds(1999)), ClientLink::Quiet::kSilent);
  EXPECT_EQ(listen_after(milliseconds(2000)), ClientLink::Quiet::kGone);
}

TEST_F(ClientLinkTest, AnyBytesEndTheQuiet) {
  link.on_sent(now);
  (void)listen_after(milliseconds(250));
  (void)listen_after(milliseconds(500));
  link.on_heard(now + milliseconds(600));
  EXPECT_TRUE(link.usable());
  EXPECT_EQ(listen_after(milliseconds(849)), ClientLink::Quiet::kNo);
  EXPECT_EQ(listen_after(milliseconds(850)), ClientLink::Quiet::kToBeAsked);
}

TEST_F(ClientLinkTest, ANodeIsNeverSilentBeforeItWasAsked) {
  link.on_sent(now);
  EXPECT_EQ(listen_after(milliseconds(700)), ClientLink::Quiet::kToBeAsked);
  EXPECT_EQ(listen_after(milliseconds(940)), ClientLink::Quiet::kNo);
  EXPECT_EQ(listen_after(milliseconds(950)), ClientLink::Quiet::kSilent);
}

TEST_F(ClientLinkTest, ARequestThatIsGivenUpDoesNotEndTheQuiet) {
  link.on_sent(now);
  link.on_abandoned();
  EXPECT_FALSE(link.has_unanswered());
  EXPECT_EQ(listen_after(milliseconds(250)), ClientLink::Quiet::kToBeAsked);
}

TEST_F(ClientLinkTest, AnEndedConnectionForgetsItsQuietAndWhoseItWas) {
  link.on_sent(now);
  link.close();
  EXPECT_TRUE(link.idle());
  EXPECT_TRUE(ground.links.empty());
  EXPECT_EQ(listen_after(std::chrono::hours(1)), ClientLink::Quiet::kNo);
  EXPECT_FALSE(link.has_unanswered());
}

}  // namespace
}  // namespace ringkv
