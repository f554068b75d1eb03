#include "node/peer_door.h"

#include <cstring>

#include "tests/node/peer_door_transcript.h"

namespace ringkv {
namespace {

// ---- greetings

TEST_F(PeerDoorTranscript, WhoIsWelcomeIsHeardAndNamed) {
  const ConnectionId connection = accept();
  say(connection, hello());
  ASSERT_TRUE(answer(connection).has_value());
  const Result<PeerWelcome> welcome = codec.decode_welcome(*answer(connection));
  ASSERT_TRUE(welcome.ok());
  EXPECT_EQ(welcome->boot, sample_welcome().boot);
  EXPECT_EQ(reception.hellos.at(0).name, "n1");

  say(connection, get(5) + get(6));

  ASSERT_EQ(heard(), 2U);
  EXPECT_EQ(reception.heard[0].from, kA);
  EXPECT_EQ(reception.heard[0].ring, kSenderRing);
  EXPECT_EQ(std::get<ReplicaGet>(reception.heard[0].message).request, 5U);
  EXPECT_EQ(std::get<ReplicaGet>(reception.heard[0].message).deadline, clock.now() + seconds(1));
  EXPECT_EQ(std::get<ReplicaGet>(reception.heard[1].message).request, 6U);
}

TEST_F(PeerDoorTranscript, AStreamMayBreakAnywhere) {
  const ConnectionId connection = accept();
  say_slowly(connection, hello());
  say_slowly(connection, get(5) + get(6));
  EXPECT_EQ(heard(), 2U);
}

TEST_F(PeerDoorTranscript, AMessageBeforeTheGreetingEndsTheConnection) {
  const ConnectionId connection = accept();
  say(connection, get(5));
  EXPECT_EQ(heard(), 0U);
  EXPECT_FALSE(is_open(connection));
  EXPECT_EQ(refusal(connection).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(door->statistics().refused_frames, 1U);
}

TEST_F(PeerDoorTranscript, AJudgementMayComeLater) {
  reception.welcomes_at_once = false;
  const ConnectionId connection = accept();
  say(connection, hello());
  EXPECT_FALSE(answer(connection).has_value());

  reception.answers.at(0)(sample_welcome());

  EXPECT_EQ(answer(connection)->type, FrameType::kPeerWelcome);
  say(connection, get(5));
  EXPECT_EQ(heard(), 1U);
}

TEST_F(PeerDoorTranscript, AJudgementForAConnectionThatIsGoneIsDropped) {
  reception.welcomes_at_once = false;
  const ConnectionId connection = accept();
  say(connection, hello());
  door->on_closed(connection, unavailable("gone"));
  reception.answers.at(0)(sample_welcome());
  EXPECT_FALSE(answer(connection).has_value());
  EXPECT_EQ(door->statistics().connections_now, 0U);
}

TEST_F(PeerDoorTranscript, AJudgementAfterTheDoorIsGoneIsDropped) {
  reception.welcomes_at_once = false;
  say(accept(), hello());
  std::string bytes;
  codec.encode(sample_join(), bytes);
  say(accept(), bytes);
  door.reset();
  reception.answers.at(0)(sample_welcome());
  reception.join_answers.at(0)(JoinAnswer{});
}

TEST_F(PeerDoorTranscript, WhoIsRefusedLearnsWhy) {
  reception.welcomes_at_once = false;
  const ConnectionId connection = accept();
  say(connection, hello());
  reception.answers.at(0)(forbidden("cluster 1 isn't cluster 2"));
  EXPECT_EQ(refusal(connection), forbidden("cluster 1 isn't cluster 2"));
  EXPECT_FALSE(is_open(connection));
}

TEST_F(PeerDoorTranscript, WhoSpeaksBeforeItIsAnsweredIsEnded) {
  reception.welcomes_at_once = false;
  const ConnectionId connection = accept();
  say(connection, hello() + get(5));
  EXPECT_FALSE(is_open(connection));
  EXPECT_EQ(heard(), 0U);
}

TEST_F(PeerDoorTranscript, WhoNeverGreetsIsEndedAfterTenSeconds) {
  const ConnectionId silent = accept();
  const ConnectionId talking = greeted();
  pass(seconds(9));
  EXPECT_TRUE(is_open(silent));
  pass(seconds(1));
  EXPECT_FALSE(is_open(silent));
  EXPECT_TRUE(is_open(talking));
  EXPECT_EQ(door->statistics().connections_now, 1U);
}

TEST_F(PeerDoorTranscript, AGreetingThatNobodyJudgesEndsToo) {
  reception.welcomes_at_once = false;
  const ConnectionId connection = greeted();
  pass(seconds(10));
  EXPECT_FALSE(is_open(connection));
}

// Before anything is awaited or kept: the length alone is enough.
TEST_F(PeerDoorTranscript, FromStrangersOnlySmallFramesAreAwaited) {
  const ConnectionId connection = accept();
  std::string large = get(5);
  const uint32_t length = 5000;
  std::memcpy(large.data(), &length, sizeof length);
  say(connection, large.substr(0, 4));
  EXPECT_FALSE(is_open(connection));

  const ConnectionId known = greeted();
  EXPECT_EQ(say(known, large.substr(0, 4)), 0U);
  EXPECT_TRUE(is_open(known));
}

TEST_F(PeerDoorTranscript, WhoOnlyAsksWhoIsThereIsAnsweredAndLetGo) {
  const ConnectionId connection = greeted(kA, kFirstBoot, PeerChannel::kIdentify);
  EXPECT_EQ(answer(connection)->type, FrameType::kPeerWelcome);
  EXPECT_FALSE(is_open(connection));
}

TEST_F(PeerDoorTranscript, AJoinIsAnsweredOnceAndItsConnectionEnds) {
  const ConnectionId connection = accept();
  std::string bytes;
  codec.encode(sample_join(), bytes);
  say(connection, bytes);
  ASSERT_EQ(reception.joins.size(), 1U);
  EXPECT_EQ(reception.joins[0].rack, "rack-b");
  pass(seconds(30));  // an epoch may take its time
  EXPECT_TRUE(is_open(connection));

  reception.join_answers.at(0)(JoinAnswer{{}, "ring", sample_states()});
  reception.join_answers.at(0)(JoinAnswer{{}, "again", {}});

  EXPECT_EQ(codec.decode_join_answer(*answer(connection), {})->description, "ring");
  EXPECT_FALSE(is_open(connection));
}

TEST_F(PeerDoorTranscript, AMalformedJoinIsRefused) {
  const ConnectionId connection = accept();
  JoinRequest request = sample_join();
  request.weight = -1;
  std::string bytes;
  codec.encode(request, bytes);
  say(connection, bytes);
  EXPECT_NE(refusal(connection).message().find("weight"), std::string::npos);
}

// ---- one node, one life, one connection a channel

TEST_F(PeerDoorTranscript, ANewerConnectionOfTheSameLifeReplacesTheOlder) {
  const ConnectionId older = greeted();
  const ConnectionId control = greeted(kA, kFirstBoot, PeerChannel::kControl);
  const ConnectionId newer = greeted();
  EXPECT_FALSE(is_open(older));
  EXPECT_TRUE(is_open(control));
  EXPECT_TRUE(is_open(newer));
  say(older, get(5));
  EXPECT_EQ(heard(), 0U);
}

TEST_F(PeerDoorTranscript, TheOlderConnectionIsHeardUntilTheNewerIsWelcome) {
  const ConnectionId older = greeted();
  reception.welcomes_at_once = false;
  greeted();
  say(older, get(5));
  EXPECT_EQ(heard(), 1U);
}

TEST_F(PeerDoorTranscript, AGreetingReplacesAnEarlierOneOfItsLifeThatIsStillJudged) {
  reception.welcomes_at_once = false;
  std::vector<ConnectionId> connections;
  for (int i = 0; i < 20; ++i) connections.push_back(greeted());
  EXPECT_EQ(door->statistics().connections_now, 1U);
  EXPECT_TRUE(is_open(connections.back()));
}

TEST_F(PeerDoorTranscript, OfANodeAndChannelAtMostTwoConnectionsStand) {
  greeted();
  reception.welcomes_at_once = false;
  const ConnectionId second_life = greeted(kA, Boot{2});
  const ConnectionId third_life = greeted(kA, Boot{3});
  EXPECT_TRUE(is_open(second_life));
  EXPECT_EQ(refusal(third_life).code(), StatusCode::kOverloaded);
  EXPECT_EQ(reception.hellos.size(), 2U);
  EXPECT_TRUE(is_open(greeted(kB, Boot{3})));  // others aren't touched
}

// I10: what an earlier life sends is never handed on.
TEST_F(PeerDoorTranscript, AnEarlierLifeIsEndedAndTold) {
  const ConnectionId control = greeted(kA, kFirstBoot, PeerChannel::kControl);
  const ConnectionId requests = greeted(kA, kFirstBoot);
  const ConnectionId other = greeted(kB, kFirstBoot);

  door->keep_only(kA, kLaterBoot);

  EXPECT_FALSE(is_open(control));
  EXPECT_FALSE(is_open(requests));
  EXPECT_TRUE(is_open(other));
  say(requests, get(5));
  EXPECT_EQ(heard(), 0U);
}

TEST_F(PeerDoorTranscript, ALaterLifeThatIsWelcomedEndsTheEarlierOneOnBothChannels) {
  const ConnectionId control = greeted(kA, kFirstBoot, PeerChannel::kControl);
  const ConnectionId requests = greeted(kA, kFirstBoot);
  const ConnectionId later = greeted(kA, kLaterBoot);
  EXPECT_FALSE(is_open(control));
  EXPECT_FALSE(is_open(requests));
  EXPECT_TRUE(is_open(later));
}

TEST_F(PeerDoorTranscript, AMessageMayEndTheConnectionItCameOn) {
  const ConnectionId connection = greeted();
  reception.on_heard = [&] { door->keep_only(kA, kLaterBoot); };
  say(connection, get(5) + get(6));
  EXPECT_EQ(heard(), 1U);
  EXPECT_FALSE(is_open(connection));
}

TEST_F(PeerDoorTranscript, WhoGreetedAsOneNodeSpeaksForNoOther) {
  const Ballot ballot{1, kB, kFirstBoot};
  const Voter voter{kB, {}, kFirstBoot};
  const std::vector<PeerMessage> as_another = {Prepare{1, "", ballot},
                                               Promise{1, {}, voter, {}, {}, ""},
                                               Accept{1, "", ballot, ""},
                                               Accepted{1, {}, voter, {}},
                                               ReplicaPutAck{1, kB, {}, {}},
                                               ReplicaGetReply{1, kB, {}, false, {}, {}},
                                               ReplicaScanReply{1, kB, {}, {}, "", true}};
  for (const PeerMessage& forged : as_another) {
    const PeerChannel channel =
        forged.index() < std::variant_size_v<GossipMessage> ? PeerChannel::kControl : PeerChannel::kRequests;
    const ConnectionId connection = greeted(kA, kFirstBoot, channel);
    say(connection, message(forged));
    EXPECT_FALSE(is_open(connection)) << forged.index();
    const ConnectionId rightful = greeted(kB, kFirstBoot, channel);
    say(rightful, message(forged));
    EXPECT_TRUE(is_open(rightful)) << forged.index();
  }
  EXPECT_EQ(heard(), as_another.size());
  for (const Heard& heard : reception.heard) EXPECT_EQ(heard.from, kB);
}

TEST_F(PeerDoorTranscript, AMessageOnTheWrongChannelEndsTheConnection) {
  const ConnectionId control = greeted(kA, kFirstBoot, PeerChannel::kControl);
  say(control, get(5));
  EXPECT_FALSE(is_open(control));
  const ConnectionId requests = greeted();
  say(requests, message(Probe{1, {}}));
  EXPECT_FALSE(is_open(requests));
  EXPECT_EQ(heard(), 0U);
}

// I14
TEST_F(PeerDoorTranscript, AnUnknownTypeOrASecondGreetingEndsThatConnectionOnly) {
  const ConnectionId other = greeted(kB);
  std::string unknown;
  FrameWriter(unknown, static_cast<FrameType>(99), 0, 0).finish();
  for (const std::string& bytes : {unknown, hello(), std::string("GET / HTTP/1.1\r\n")}) {
    const ConnectionId connection = greeted();
    say(connection, bytes);
    EXPECT_FALSE(is_open(connection));
  }
  EXPECT_TRUE(is_open(other));
}

}  // namespace
}  // namespace ringkv
