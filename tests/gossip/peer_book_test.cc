#include "gossip/peer_book.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

using Kind = PeerBook::Verdict::Kind;

constexpr NodeId kSelf{1};
constexpr NodeId kOther{2};
constexpr ClusterId kCluster{0xC1};

const PeerWelcome kOwn{
    .cluster = kCluster, .node = kSelf, .disk = DiskId{10}, .boot = Boot{100}, .generation = 3, .name = "n1"};

RingDescription ring_of_two() {
  RingDescription ring;
  ring.epoch = 5;
  ring.cluster = kCluster;
  ring.members = {{.node = kSelf, .disk = DiskId{10}, .name = "n1"},
                  {.node = kOther, .disk = DiskId{20}, .name = "n2"}};
  return ring;
}

PeerHello hello_of_other(Boot boot = {200}) {
  return {.protocol = 1,
          .format = 1,
          .cluster = kCluster,
          .node = kOther,
          .disk = DiskId{20},
          .boot = boot,
          .generation = boot.value - 193,  // 7, and one more in each later life
          .name = "n2",
          .peer_address = "10.0.0.2:7402",
          .client_address = "10.0.0.2:7401",
          .to = kSelf,
          .lineage = 1,
          .epoch = 5};
}

PeerWelcome welcome_of_other(Boot boot = {200}) {
  return {.cluster = kCluster,
          .node = kOther,
          .disk = DiskId{20},
          .boot = boot,
          .generation = boot.value - 193,
          .name = "n2"};
}

struct Fixture {
  PeerBook book{kOwn, {.protocol = 1, .format = 1}};
  RingDescription ring = ring_of_two();

  PeerBook::Verdict judge(const PeerHello& hello) const { return book.judge(hello, ring); }
  // Refused, with all of these in the message.
  void expect_refused(const PeerHello& hello, StatusCode code, const std::vector<std::string>& words) const {
    const PeerBook::Verdict verdict = judge(hello);
    EXPECT_EQ(verdict.kind, Kind::kRefuse);
    EXPECT_EQ(verdict.status.code(), code) << verdict.status.to_string();
    for (const std::string& word : words) {
      EXPECT_NE(verdict.status.message().find(word), std::string::npos)
          << "no '" << word << "' in: " << verdict.status.message();
    }
  }
};

TEST(PeerBook, WelcomesAMemberThatItHasNeverMet) {
  const Fixture fixture;
  EXPECT_EQ(fixture.judge(hello_of_other()).kind, Kind::kWelcome);
  EXPECT_EQ(fixture.book.find(kOther), nullptr) << "to judge is not to accept";
}

TEST(PeerBook, WelcomesALifeThatItKnows) {
  Fixture fixture;
  fixture.book.accept(hello_of_other());
  EXPECT_EQ(fixture.judge(hello_of_other()).kind, Kind::kWelcome);
}

TEST(PeerBook, AsksTheLifeThatItKnowsBeforeItTakesAnother) {
  Fixture fixture;
  fixture.book.accept(hello_of_other());
  PeerHello moved = hello_of_other({201});
  moved.peer_address = "10.0.0.9:7402";

  const PeerBook::Verdict verdict = fixture.judge(moved);
  EXPECT_EQ(verdict.kind, Kind::kAskFirst);
  EXPECT_EQ(verdict.known.boot, Boot{200});
  EXPECT_EQ(verdict.known.peer_address, "10.0.0.2:7402");
}

// It would displace the living one, which would then be refused for good.
TEST(PeerBook, AGreetingThatWasLongUnderWayIsNoLaterLife) {
  Fixture fixture;
  fixture.book.accept(hello_of_other({205}));
  PeerHello late = hello_of_other({204});
  fixture.expect_refused(late, StatusCode::kStaleEpoch, {"n2", "generation 11", "n1", "generation 12"});
  late.generation = 12;
  fixture.expect_refused(late, StatusCode::kStaleEpoch, {"generation 12"});
  late.generation = 13;  // a restored directory that has been told what was remembered of it
  EXPECT_EQ(fixture.judge(late).kind, Kind::kAskFirst);
}

TEST(PeerBook, AnAnswerThatWasLongUnderWayIsNoLaterLife) {
  Fixture fixture;
  fixture.book.accept(hello_of_other({205}));
  EXPECT_FALSE(fixture.book.accept(welcome_of_other({204}), "10.0.0.2:7402").has_value());
  EXPECT_EQ(fixture.book.find(kOther)->boot, Boot{205});
}

TEST(PeerBook, RefusesALifeThatALaterOneHasReplaced) {
  Fixture fixture;
  fixture.book.accept(hello_of_other({200}));
  fixture.book.accept(hello_of_other({201}));
  EXPECT_TRUE(fixture.book.is_over(kOther, {200}));
  EXPECT_FALSE(fixture.book.is_over(kOther, {201}));
  EXPECT_FALSE(fixture.book.is_over(kOther, {202}));
  fixture.expect_refused(hello_of_other({200}), StatusCode::kForbidden,
                         {"n2", "00000000000000c8", "00000000000000c9", "10.0.0.2:7402", "stop"});
}

TEST(PeerBook, TakesADiskThatTheRingNamesWithoutAskingTheOneThatItReplaces) {
  Fixture fixture;
  fixture.book.accept(hello_of_other());
  fixture.ring.members[1].disk = DiskId{21};
  PeerHello replacement = hello_of_other({201});
  replacement.disk = DiskId{21};
  EXPECT_EQ(fixture.judge(replacement).kind, Kind::kWelcome);

  fixture.book.accept(replacement);
  EXPECT_TRUE(fixture.book.is_over(kOther, {200}));
  EXPECT_EQ(fixture.book.find(kOther)->disk, DiskId{21});
}

TEST(PeerBook, RefusesOtherVersionsNamingBothNumbers) {
  const Fixture fixture;
  PeerHello protocol = hello_of_other();
  protocol.protocol = 9;
  fixture.expect_refused(protocol, StatusCode::kInvalidArgument,
                         {"n2", "10.0.0.2:7402", "protocol 9", "n1", "protocol 1", "same release"});
  PeerHello format = hello_of_other();
  format.format = 8;
  fixture.expect_refused(format, StatusCode::kInvalidArgument, {"n2", "format 8", "n1", "format 1"});
}

// Row B20.
TEST(PeerBook, RefusesAnotherClusterNamingBoth) {
  const Fixture fixture;
  PeerHello foreign = hello_of_other();
  foreign.cluster = ClusterId{0xC2};
  fixture.expect_refused(foreign, StatusCode::kForbidden,
                         {"n2", "00000000000000c2", "n1", "00000000000000c1", "address"});
  EXPECT_TRUE(fixture.book.entries().empty());
}

// Row B30: two nodes advertise one address.
TEST(PeerBook, RefusesAGreetingThatIsMeantForAnotherNode) {
  const Fixture fixture;
  PeerHello stray = hello_of_other();
  stray.to = NodeId{3};
  fixture.expect_refused(stray, StatusCode::kUnavailable,
                         {"n2", "0000000000000003", "n1", "0000000000000001", "address"});
  stray.to = NodeId{};  // whoever is there
  EXPECT_EQ(fixture.judge(stray).kind, Kind::kWelcome);
}

// Row B19: FORBIDDEN would end a member whose peer's address was taken over by another cluster.
TEST(PeerBook, AGreetingForANodeOfAnotherClusterIsOnlyToldWhoIsThereNamingBoth) {
  const Fixture fixture;
  PeerHello stray = hello_of_other();
  stray.to = NodeId{3};
  stray.cluster = ClusterId{0xC2};
  fixture.expect_refused(stray, StatusCode::kUnavailable,
                         {"n2", "00000000000000c2", "0000000000000003", "n1", "00000000000000c1"});
}

TEST(PeerBook, RefusesItself) {
  const Fixture fixture;
  PeerHello own = hello_of_other();
  own.node = kSelf;
  own.disk = kOwn.disk;
  own.boot = kOwn.boot;
  own.name = "n1";
  fixture.expect_refused(own, StatusCode::kForbidden, {"n1", "itself", "10.0.0.2:7402"});
}

TEST(PeerBook, RefusesACopyOfItsOwnDirectoryAndSaysWhereItRuns) {
  const Fixture fixture;
  PeerHello copy = hello_of_other({101});
  copy.node = kSelf;
  copy.disk = kOwn.disk;
  copy.name = "n1";
  fixture.expect_refused(copy, StatusCode::kForbidden,
                         {"n1", "copy", "10.0.0.2:7402", "stop one of the two", "empty directory"});
}

TEST(PeerBook, RefusesWhoIsNoMember) {
  const Fixture fixture;
  PeerHello retired = hello_of_other();
  retired.node = NodeId{3};
  retired.name = "n3";
  retired.epoch = 4;
  fixture.expect_refused(retired, StatusCode::kNotFound,
                         {"n3", "not a member", "00000000000000c1", "epoch 5", "epoch 4", "empty directory"});
}

TEST(PeerBook, RefusesADiskThatIsNotTheRingsNamingBoth) {
  const Fixture fixture;
  PeerHello wiped = hello_of_other();
  wiped.disk = DiskId{0xAB};
  fixture.expect_refused(wiped, StatusCode::kForbidden,
                         {"n2", "00000000000000ab", "0000000000000014", "replaced", "under the name n2"});
}

TEST(PeerBook, LetsWhoHasALaterRingBringItAndDoNothingElse) {
  const Fixture fixture;
  PeerHello joined = hello_of_other();
  joined.node = NodeId{3};
  joined.name = "n3";
  joined.epoch = 6;
  joined.channel = PeerChannel::kControl;
  EXPECT_EQ(fixture.judge(joined).kind, Kind::kWelcome);
  joined.channel = PeerChannel::kRequests;
  fixture.expect_refused(joined, StatusCode::kUnavailable, {"n3", "epoch 5", "epoch 6"});

  PeerHello replaced = hello_of_other();
  replaced.disk = DiskId{21};
  replaced.epoch = 6;
  EXPECT_EQ(fixture.judge(replaced).kind, Kind::kWelcome);

  PeerHello later_lineage = joined;
  later_lineage.channel = PeerChannel::kControl;
  later_lineage.lineage = 2;
  later_lineage.epoch = 1;
  EXPECT_EQ(fixture.judge(later_lineage).kind, Kind::kWelcome);
}

// Of a disk that only the newcomer's own ring names nothing is remembered, so that no earlier life, greeting
// late, passes for the one that has replaced it.
TEST(PeerBook, LetsADiskThatOnlyALaterRingNamesBringThatRingInWhateverGeneration) {
  Fixture fixture;
  fixture.book.accept(hello_of_other({201}));
  PeerHello replaced = hello_of_other({200});
  replaced.disk = DiskId{21};
  replaced.epoch = 6;
  EXPECT_EQ(fixture.judge(replaced).kind, Kind::kWelcome);
  EXPECT_FALSE(PeerBook::names(fixture.ring, kOther, DiskId{21}));
  EXPECT_TRUE(PeerBook::names(fixture.ring, kOther, DiskId{20}));
  EXPECT_FALSE(PeerBook::names(fixture.ring, NodeId{3}, DiskId{20}));
}

// A refusal would read as silence; and two nodes that asked each other first would never end.
TEST(PeerBook, TellsWhoItIsWhateverItKnowsOfWhoAsks) {
  Fixture fixture;
  fixture.book.accept(hello_of_other({200}));
  PeerHello asks = hello_of_other({201});
  asks.channel = PeerChannel::kIdentify;
  EXPECT_EQ(fixture.judge(asks).kind, Kind::kWelcome);
  fixture.book.accept(asks);
  EXPECT_EQ(fixture.book.find(kOther)->boot, Boot{200}) << "to ask is not to greet";

  asks.node = NodeId{3};
  EXPECT_EQ(fixture.judge(asks).kind, Kind::kWelcome);
  asks.to = NodeId{4};
  fixture.expect_refused(asks, StatusCode::kUnavailable, {"0000000000000004"});
}

TEST(PeerBook, RefusesAGreetingWithoutIdentityOrWithAnAddressWithoutEnd) {
  const Fixture fixture;
  PeerHello nobody = hello_of_other({});
  fixture.expect_refused(nobody, StatusCode::kInvalidArgument, {"n2", "boot"});
  PeerHello long_address = hello_of_other();
  long_address.peer_address = std::string(kAddressBytesMax + 1, 'h');
  fixture.expect_refused(long_address, StatusCode::kInvalidArgument, {"address"});
  long_address.peer_address = "h:1";
  long_address.client_address = std::string(kAddressBytesMax + 1, 'h');
  fixture.expect_refused(long_address, StatusCode::kInvalidArgument, {"address"});
}

TEST(PeerBook, ShowsNoControlCharactersOfAGreetingInItsMessages) {
  const Fixture fixture;
  PeerHello rude = hello_of_other();
  rude.name = "n2\x1b[2J";
  rude.peer_address = "\n:1";
  rude.cluster = ClusterId{2};
  const std::string message = fixture.judge(rude).status.message();
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(PeerBook, RemembersTheHighestGenerationAndTheLatestAddresses) {
  Fixture fixture;
  fixture.book.accept(hello_of_other());
  PeerHello restored = hello_of_other({201});
  restored.generation = 2;
  restored.peer_address = "10.0.0.3:7402";
  fixture.book.accept(restored);

  const PeerBook::Entry* known = fixture.book.find(kOther);
  EXPECT_EQ(known->generation, 7U);
  EXPECT_EQ(known->peer_address, "10.0.0.3:7402");
  EXPECT_EQ(known->client_address, "10.0.0.2:7401");
  EXPECT_EQ(known->boot, Boot{201});
  EXPECT_EQ(known->earlier, std::vector{Boot{200}});
}

TEST(PeerBook, RemembersABoundedNumberOfEarlierLives) {
  Fixture fixture;
  for (uint64_t boot = 1; boot <= 40; ++boot) fixture.book.accept(hello_of_other({boot}));
  const std::vector<Boot>& earlier = fixture.book.find(kOther)->earlier;
  ASSERT_EQ(earlier.size(), kEarlierBootsMax);
  EXPECT_EQ(earlier.front(), Boot{39});
  EXPECT_EQ(earlier.back(), Boot{24});
}

// Two greetings of one life may wait for one answer; a still later life may be taken meanwhile.
// So that who was put back from a backup learns of it, also where earlier answers were lost.
TEST(PeerBook, RemembersTheLivesBeforeOfTheSameDisk) {
  Fixture fixture;
  EXPECT_TRUE(fixture.book.remembered(hello_of_other()).boots.empty()) << "never met";
  fixture.book.accept(hello_of_other({200}));
  EXPECT_TRUE(fixture.book.remembered(hello_of_other({200})).boots.empty());

  fixture.book.accept(hello_of_other({202}));
  EXPECT_EQ(fixture.book.remembered(hello_of_other({202})).boots, std::vector<Boot>{{200}});
  EXPECT_EQ(fixture.book.remembered(hello_of_other({202})).generation, 0U);

  const PeerHello next = hello_of_other({205});
  EXPECT_EQ(fixture.book.remembered(next).boots, (std::vector<Boot>{{202}, {200}}));
  EXPECT_EQ(fixture.book.remembered(next).generation, 9U);
  fixture.book.accept(next);
  EXPECT_EQ(fixture.book.remembered(next).boots, (std::vector<Boot>{{202}, {200}}));
}

TEST(PeerBook, OfAnotherDiskItRemembersTheGenerationAlone) {
  Fixture fixture;
  fixture.book.accept(hello_of_other({200}));
  PeerHello wiped = hello_of_other({202});
  wiped.disk = {21};
  EXPECT_TRUE(fixture.book.remembered(wiped).boots.empty());
  EXPECT_EQ(fixture.book.remembered(wiped).generation, 7U);
  fixture.book.accept(wiped);
  EXPECT_TRUE(fixture.book.remembered(wiped).boots.empty());

  PeerHello next = hello_of_other({203});
  next.disk = {21};
  fixture.book.accept(next);
  EXPECT_EQ(fixture.book.remembered(next).boots, std::vector<Boot>{{202}});
}

TEST(PeerBook, DoesNotGoBackToALifeThatIsOver) {
  Fixture fixture;
  fixture.book.accept(hello_of_other({200}));
  fixture.book.accept(hello_of_other({201}));
  fixture.book.accept(hello_of_other({200}));
  EXPECT_EQ(fixture.book.find(kOther)->boot, Boot{201});
}

TEST(PeerBook, LearnsByDialing) {
  Fixture fixture;
  const auto record = fixture.book.accept(welcome_of_other(), "10.0.0.2:7402");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->key, kPeersKey);
  EXPECT_EQ(fixture.book.find(kOther)->boot, Boot{200});
  EXPECT_FALSE(fixture.book.accept(welcome_of_other(), "10.0.0.2:7402").has_value()) << "nothing new";

  EXPECT_TRUE(fixture.book.accept(welcome_of_other({201}), "10.0.0.2:7402").has_value());
  EXPECT_TRUE(fixture.book.is_over(kOther, {200}));
  EXPECT_FALSE(fixture.book.accept(welcome_of_other({200}), "10.0.0.2:7402").has_value()) << "it is over";
  EXPECT_EQ(fixture.book.find(kOther)->boot, Boot{201});
}

TEST(PeerBook, BelievesNoOtherLifeAtAnotherAddressBeforeItGreets) {
  Fixture fixture;
  fixture.book.accept(hello_of_other());
  EXPECT_FALSE(fixture.book.accept(welcome_of_other({201}), "10.0.0.9:7402").has_value());
  EXPECT_EQ(fixture.book.find(kOther)->boot, Boot{200});

  EXPECT_TRUE(fixture.book.accept(welcome_of_other(), "10.0.0.9:7402").has_value()) << "the same life moved";
  EXPECT_EQ(fixture.book.find(kOther)->peer_address, "10.0.0.9:7402");
}

TEST(PeerBook, LearnsNothingFromItselfNobodyOrAnotherCluster) {
  Fixture fixture;
  EXPECT_FALSE(fixture.book.accept(kOwn, "10.0.0.1:7402").has_value());
  EXPECT_FALSE(fixture.book.accept(PeerWelcome(), "10.0.0.1:7402").has_value());
  PeerWelcome foreign = welcome_of_other();
  foreign.cluster = ClusterId{0xC2};
  EXPECT_FALSE(fixture.book.accept(foreign, "10.0.0.2:7402").has_value());
  EXPECT_FALSE(fixture.book.accept(welcome_of_other(), std::string(kAddressBytesMax + 1, 'h')).has_value());
  EXPECT_TRUE(fixture.book.entries().empty());
}

TEST(PeerBook, ForgetsWhomTheRingNoLongerNames) {
  Fixture fixture;
  fixture.book.accept(hello_of_other());
  EXPECT_FALSE(fixture.book.keep_members(fixture.ring).has_value());
  fixture.ring.members.pop_back();
  EXPECT_TRUE(fixture.book.keep_members(fixture.ring).has_value());
  EXPECT_TRUE(fixture.book.entries().empty());
}

TEST(PeerBook, RemembersABoundedNumberOfNodes) {
  Fixture fixture;
  for (uint64_t node = 1000; node < 1000 + kPeersMax; ++node) {
    PeerHello hello = hello_of_other();
    hello.node = NodeId{node};
    fixture.book.accept(hello);
  }
  fixture.expect_refused(hello_of_other(), StatusCode::kOverloaded, {"n2", "n1", "2000"});
  EXPECT_FALSE(fixture.book.accept(welcome_of_other(), "10.0.0.2:7402").has_value());

  PeerBook again(kOwn, {.protocol = 1, .format = 1});
  EXPECT_TRUE(again.load(fixture.book.encode()).ok());
}

PeerBook sample_book() {
  Fixture fixture;
  fixture.book.accept(hello_of_other({200}));
  fixture.book.accept(hello_of_other({201}));
  PeerHello third = hello_of_other({300});
  third.node = NodeId{3};
  third.client_address = "";
  fixture.book.accept(third);
  return fixture.book;
}

TEST(PeerBook, IsReadAsItWasWritten) {
  const PeerBook book = sample_book();
  PeerBook again(kOwn, {.protocol = 1, .format = 1});
  ASSERT_TRUE(again.load(book.encode()).ok());
  EXPECT_EQ(again.entries(), book.entries());
  ASSERT_TRUE(again.load("").ok());
  EXPECT_TRUE(again.entries().empty());
}

TEST(PeerBook, RecordsWhatItWouldLoad) {
  Fixture fixture;
  const MetaRecord record = fixture.book.accept(hello_of_other());
  EXPECT_EQ(record.key, kPeersKey);
  EXPECT_EQ(record.value, fixture.book.encode());
}

TEST(PeerBook, IsCorruptWhereAByteIsWrongOrMissing) {
  const std::string bytes = sample_book().encode();
  PeerBook book = sample_book();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(book.load(damaged).code(), StatusCode::kCorruption) << i;
    if (i > 0) {
      EXPECT_EQ(book.load(bytes.substr(0, i)).code(), StatusCode::kCorruption) << i;
    }
  }
  EXPECT_EQ(book.load(bytes + '\0').code(), StatusCode::kCorruption);
  EXPECT_EQ(book.entries(), sample_book().entries()) << "what was there stays";
}

TEST(PeerBook, OfALaterFormatIsRefusedWithBothNumbers) {
  std::string bytes = sample_book().encode();
  bytes[0] = 3;
  PeerBook book(kOwn, {});
  EXPECT_EQ(book.load(bytes), corruption("peers on disk: format 3, this build reads 2"));
}

TEST(PeerBook, WhoWasDeclaredLostComesBackOnlyEmpty) {
  Fixture fixture;
  fixture.ring.lineage = 77;
  fixture.ring.members[1].lost = true;
  fixture.expect_refused(hello_of_other(), StatusCode::kForbidden,
                         {"n2", "declared lost by `ring force`", "n1", "lineage 77", "lineage 1", "wipe"});
  fixture.ring.members.pop_back();
  fixture.expect_refused(hello_of_other(), StatusCode::kNotFound,
                         {"n2", "forced without it", "lineage 77", "empty directory"});
  PeerHello empty = hello_of_other();
  empty.channel = PeerChannel::kIdentify;
  EXPECT_EQ(fixture.judge(empty).kind, Kind::kWelcome) << "who only asks is told";
}

}  // namespace
}  // namespace ringkv
