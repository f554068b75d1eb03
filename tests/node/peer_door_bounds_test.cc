// What the door does with large messages, with nodes that are dropped on purpose, and at its end.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/node/peer_door_transcript.h"

namespace ringkv {
namespace {

// ---- what is large

TEST_F(PeerDoorTranscript, ALargeMessageArrivesInParts) {
  const auto record = std::make_shared<const std::string>(size_t{40} << 20, 'r');
  const ConnectionId connection = greeted();
  say(connection, message(ReplicaPut{5, {}, "b", "k", record, {}, {}, true, clock.now()}) + get(6));
  ASSERT_EQ(heard(), 2U);
  EXPECT_EQ(*std::get<ReplicaPut>(reception.heard[0].message).record, *record);
}

std::string part_of(size_t bytes) {
  std::string part;
  FrameWriter frame(part, FrameType::kPeerValues, 0, 0);
  frame.begin_values();
  part.append(bytes, 'p');
  frame.finish();
  return part;
}

// What has been handed on, or was thrown away, no longer counts.
TEST_F(PeerDoorTranscript, PartsCountWhileTheyWait) {
  const std::string part = part_of(size_t{16} << 20);
  const auto record = std::make_shared<const std::string>("r");
  const std::string put = message(ReplicaPut{5, {}, "b", "k", record, {}, {}, true, clock.now()});
  const ConnectionId connection = greeted();
  for (int i = 0; i < 9; ++i) {
    say(connection, part + part + put);
    ASSERT_EQ(heard(), 1U) << i;
    EXPECT_EQ(std::get<ReplicaPut>(reception.heard[0].message).record->size(), (size_t{32} << 20) + 1);
    reception.heard.clear();
    say(connection, part);
    faults.drop(kA);
    say(connection, put);
    faults.heal();
  }
  EXPECT_EQ(heard(), 0U);
}

TEST_F(PeerDoorTranscript, PartsThatNeverEndAreBounded) {
  const std::string part = part_of(size_t{16} << 20);
  // Each within its bound, and all together within theirs.
  const ConnectionId one = greeted(NodeId{100});
  for (int i = 0; i < 5; ++i) say(one, part);
  EXPECT_TRUE(is_open(one));
  say(one, part);
  EXPECT_FALSE(is_open(one));

  std::vector<ConnectionId> connections;
  for (uint64_t node = 1; node <= 4; ++node) {
    connections.push_back(greeted(NodeId{node}));
    for (int i = 0; i < 5; ++i) say(connections.back(), part);
  }
  EXPECT_EQ(
      std::count_if(connections.begin(), connections.end(), [&](ConnectionId id) { return is_open(id); }), 3);
}

// ---- faults

TEST_F(PeerDoorTranscript, OfADroppedNodeNothingIsHeardAndItsConnectionsStay) {
  const ConnectionId connection = greeted();
  faults.drop(kA);
  say(connection, get(5));
  EXPECT_EQ(heard(), 0U);
  EXPECT_TRUE(is_open(connection));
  faults.heal();
  say(connection, get(6));
  EXPECT_EQ(heard(), 1U);
}

TEST_F(PeerDoorTranscript, GreetingsOfADroppedNodeAreMetWithSilence) {
  faults.drop(kA);
  const ConnectionId connection = greeted();
  std::string join;
  JoinRequest request = sample_join();
  request.node = kA;
  codec.encode(request, join);
  const ConnectionId joining = accept();
  say(joining, join);
  for (const ConnectionId silent : {connection, joining}) {
    EXPECT_TRUE(is_open(silent));
    EXPECT_FALSE(answer(silent).has_value());
  }
  EXPECT_TRUE(reception.hellos.empty());
  EXPECT_TRUE(reception.joins.empty());
  EXPECT_TRUE(is_open(greeted(kB)));
  pass(seconds(10));
  EXPECT_FALSE(is_open(connection));
}

TEST_F(PeerDoorTranscript, AJudgementOfANodeThatIsDroppedMeanwhileIsNotSent) {
  reception.welcomes_at_once = false;
  const ConnectionId connection = greeted();
  faults.drop(kA);
  reception.answers.at(0)(sample_welcome());
  EXPECT_FALSE(answer(connection).has_value());
}

TEST_F(PeerDoorTranscript, CloseAllEndsWhoIsGreetedAndWhoIsJudged) {
  const ConnectionId first = greeted(kA);
  reception.welcomes_at_once = false;
  const ConnectionId second = greeted(kB);
  door->close_all();
  EXPECT_FALSE(is_open(first));
  EXPECT_FALSE(is_open(second));
  reception.answers.at(1)(sample_welcome());
  EXPECT_FALSE(answer(second).has_value());
}

}  // namespace
}  // namespace ringkv
