#include "node/client_node.h"

#include <gtest/gtest.h>

#include "tests/node/fake_transport.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;

class ClientNodeTest : public testing::Test {
 protected:
  Welcome welcome(uint64_t cluster = 1) {
    return {kProtocolVersion, ClusterId{cluster}, NodeId{7}, "n1", Boot{9}};
  }
  void fail(ClientLink& link) {
    link.end();
    node.on_failed(now);
  }

  FakeTransport transport;
  SeededRandom random{1};
  ClientGround ground{{.connections = 2}, transport, random};
  ClientNode node{ground, "n1:1", true};
  ClientLink& first = node.links()[0];
  ClientLink& second = node.links()[1];
  Time now{std::chrono::hours(1)};
};

TEST_F(ClientNodeTest, ConnectsAllItsLinksAndUsesThoseThatServeInTurn) {
  node.want(now);
  EXPECT_EQ(transport.dialed.size(), 2U);
  EXPECT_TRUE(node.trying());
  EXPECT_EQ(node.usable(), nullptr);
  ASSERT_TRUE(node.welcome(first, welcome()).ok());
  EXPECT_TRUE(node.serving());
  EXPECT_EQ(node.id(), NodeId{7});
  EXPECT_EQ(node.usable(), &first);
  EXPECT_EQ(node.usable(), &first);
  ASSERT_TRUE(node.welcome(second, welcome()).ok());
  EXPECT_NE(node.usable(), node.usable());
}

// Also while another connection is still tried: two that fail by turns must not have it called without end.
TEST_F(ClientNodeTest, AFailureIsFollowedByARest) {
  node.want(now);
  fail(first);
  node.want(now);
  EXPECT_EQ(transport.dialed.size(), 2U);
  fail(second);
  node.want(now);
  EXPECT_EQ(transport.dialed.size(), 2U);
  now += milliseconds(60);
  node.want(now);
  EXPECT_EQ(transport.dialed.size(), 4U);
}

TEST_F(ClientNodeTest, RestsGrowToASecondAndEndWithAWelcome) {
  for (int i = 0; i < 8; ++i) {
    node.dial(now);
    fail(first);
    fail(second);
    now += std::chrono::seconds(2);
  }
  node.dial(now);
  fail(first);
  fail(second);
  const size_t before = transport.dialed.size();
  node.want(now + milliseconds(490));
  EXPECT_EQ(transport.dialed.size(), before);
  now += milliseconds(1001);
  node.want(now);
  EXPECT_EQ(transport.dialed.size(), before + 2);
  ASSERT_TRUE(node.welcome(first, welcome()).ok());
  fail(second);
  node.want(now + milliseconds(60));
  EXPECT_EQ(transport.dialed.size(), before + 3);
}

TEST_F(ClientNodeTest, WhoBelongsToAnotherClusterOrSpeaksAnotherVersionMustNotServe) {
  node.want(now);
  ASSERT_TRUE(node.welcome(first, welcome()).ok());
  EXPECT_EQ(node.welcome(second, welcome(2)).code(), StatusCode::kForbidden);
  Welcome other_version = welcome();
  other_version.protocol = kProtocolVersion + 1;
  EXPECT_EQ(node.welcome(second, other_version).code(), StatusCode::kForbidden);
  EXPECT_FALSE(second.serving());
}

}  // namespace
}  // namespace ringkv
