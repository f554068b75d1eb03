#include "node/asio_transport.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/node/loop_fixture.h"
#include "tests/node/raw_socket.h"

namespace ringkv {
namespace {

using AsioTransportOnLoopback = LoopFixture;

TEST_F(AsioTransportOnLoopback, BytesArriveBothWaysInOrder) {
  start();
  const ConnectionId ours = on_loop([&] { return runtime.transport().connect(address); });
  ASSERT_TRUE(events.wait_until([&] { return events.connected.size() == 1 && events.accepted.size() == 1; }));
  const ConnectionId theirs = events.accepted[0];
  EXPECT_EQ(events.doors[0], Door::kClient);
  std::string sent;
  for (int i = 0; i < 300'000; ++i) sent += std::to_string(i);

  on_loop([&] {
    runtime.transport().output(ours) += sent;
    runtime.transport().output(theirs) += "answer";
    return 0;
  });

  EXPECT_TRUE(events.wait_until([&] { return events.received[theirs].size() == sent.size(); }));
  EXPECT_EQ(events.received[theirs], sent);
  EXPECT_TRUE(events.wait_until([&] { return events.received[ours] == "answer"; }));
  EXPECT_EQ(on_loop([&] { return runtime.transport().unsent_bytes(ours); }), 0U);
}

TEST_F(AsioTransportOnLoopback, OutputBeforeTheConnectionStandsIsSentOnceItDoes) {
  start();

  on_loop([&] {
    const ConnectionId ours =
        runtime.transport().connect("localhost:" + address.substr(address.find(':') + 1));
    runtime.transport().output(ours) += "early";
    return 0;
  });

  EXPECT_TRUE(events.wait_until(
      [&] { return events.accepted.size() == 1 && events.received[events.accepted[0]] == "early"; }));
}

TEST_F(AsioTransportOnLoopback, WhatAHandlerLeavesComesAgainWithMoreBehindIt) {
  constexpr size_t kFrameBytes = 3'000'000;
  events.use_bytes = [](ConnectionId, std::string_view available) {
    return available.size() / kFrameBytes * kFrameBytes;
  };
  start();
  RawSocket peer(address);
  std::string sent;
  for (size_t i = 0; i < 3 * kFrameBytes; ++i) sent.push_back(static_cast<char>(i * 7919 >> 5));

  ASSERT_TRUE(peer.send(sent));

  EXPECT_TRUE(events.wait_until([&] {
    return events.accepted.size() == 1 && events.received[events.accepted[0]].size() == sent.size();
  }));
  EXPECT_EQ(events.received[events.accepted[0]], sent);
}

// A peer that asks for much and never reads: the connection stops being read from, and goes on when the peer
// reads at last.
TEST_F(AsioTransportOnLoopback, APeerThatDoesNotReadIsNotReadFromUntilItDoes) {
  constexpr size_t kAnswerBytes = 64 << 10;
  constexpr size_t kRequests = 1000;
  size_t unsent_highest = 0;
  events.use_bytes = [&](ConnectionId connection, std::string_view available) {
    size_t used = 0;
    while (used < available.size() && runtime.transport().unsent_bytes(connection) <= kUnsentBytesMax) {
      runtime.transport().output(connection).append(kAnswerBytes, available[used++]);
    }
    unsent_highest = std::max(unsent_highest, runtime.transport().unsent_bytes(connection));
    return used;
  };
  start();
  RawSocket peer(address);
  ASSERT_TRUE(peer.send(std::string(kRequests, 'r')));
  ASSERT_TRUE(events.wait_until(
      [&] { return events.accepted.size() == 1 && events.received[events.accepted[0]].size() > 60; }));

  const std::string answers = peer.receive(kRequests * kAnswerBytes);

  EXPECT_EQ(answers.size(), kRequests * kAnswerBytes);
  EXPECT_EQ(on_loop([&] { return unsent_highest; }), kUnsentBytesMax + kAnswerBytes);
}

// A handler that takes one request at a time gets the next when the answer has left.
TEST_F(AsioTransportOnLoopback, BytesLeftForLackOfAnAnswerComeAgainOnceItHasLeft) {
  bool answering = false;
  events.use_bytes = [&](ConnectionId connection, std::string_view available) -> size_t {
    if (answering || available.empty()) return 0;
    answering = true;
    runtime.post([&, connection] {
      answering = false;
      runtime.transport().output(connection) += "a";
    });
    return 1;
  };
  start();
  RawSocket peer(address);
  ASSERT_TRUE(peer.send(std::string(100, 'r')));

  EXPECT_EQ(peer.receive(100), std::string(100, 'a'));
}

TEST_F(AsioTransportOnLoopback, AFailedConnectIsToldAfterwardsWithItsReason) {
  start();
  Address nobody;
  {
    AsioRuntime other("other", 0);
    nobody = *other.listen("127.0.0.1:0", Door::kClient);
  }
  ConnectionId refused = 0, malformed = 0;
  on_loop([&] {
    refused = runtime.transport().connect(nobody);
    malformed = runtime.transport().connect("nonsense");
    return 0;
  });

  ASSERT_TRUE(events.wait_until([&] { return events.closed.size() == 2; }));
  EXPECT_EQ(events.closed[refused].code(), StatusCode::kUnavailable);
  EXPECT_EQ(events.closed[refused].message(), "Connection refused");
  EXPECT_EQ(events.closed[malformed].code(), StatusCode::kInvalidArgument);
}

TEST_F(AsioTransportOnLoopback, ClosingSendsTheRestAndIsNotToldBack) {
  start();
  RawSocket peer(address);
  ASSERT_TRUE(peer.send("please"));
  ASSERT_TRUE(events.wait_until([&] { return !events.received.empty(); }));

  const std::string last(2'000'000, 'x');
  const size_t unsent = on_loop([&] {
    const ConnectionId connection = events.accepted[0];
    runtime.transport().output(connection) += last;
    runtime.transport().close(connection);
    runtime.transport().output(connection) += "lost";
    return runtime.transport().unsent_bytes(connection);
  });

  EXPECT_EQ(unsent, 0U);
  EXPECT_EQ(peer.receive(3'000'000), last);
  EXPECT_TRUE(peer.at_end());
  EXPECT_TRUE(events.closed.empty());
}

// Unread input would make the kernel reset the connection, and the reset overtake the refusal.
TEST_F(AsioTransportOnLoopback, ARefusalReachesAPeerThatIsStillSending) {
  events.use_bytes = [&](ConnectionId connection, std::string_view available) {
    runtime.transport().output(connection) += "refused";
    runtime.transport().close(connection);
    return available.size();
  };
  start();
  RawSocket peer(address);
  ASSERT_TRUE(peer.send(std::string(4'000'000, 'x')));

  EXPECT_EQ(peer.receive(100), "refused");
}

TEST_F(AsioTransportOnLoopback, ThePeersEndIsTold) {
  start();
  { RawSocket peer(address); }
  ASSERT_TRUE(events.wait_until([&] { return events.closed.size() == 1; }));
  EXPECT_EQ(events.closed.begin()->second.code(), StatusCode::kUnavailable);
  EXPECT_EQ(events.closed.begin()->first, events.accepted[0]);
}

TEST_F(AsioTransportOnLoopback, AClosedDoorTakesNobodyAndKeepsWhoIsIn) {
  start();
  RawSocket in(address);
  ASSERT_TRUE(events.wait_until([&] { return events.accepted.size() == 1; }));

  on_loop([&] { return runtime.stop_listening(), 0; });

  EXPECT_FALSE(RawSocket().connect(address));
  ASSERT_TRUE(in.send("still here"));
  EXPECT_TRUE(events.wait_until([&] { return events.received[events.accepted[0]] == "still here"; }));
}

// Sets how many descriptors this process may have; puts it back.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t descriptors) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lower{descriptors, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(AsioTransportOnLoopback, WithoutDescriptorsNewOnesAreTurnedAwayAndOldOnesServed) {
  start();
  RawSocket old(address);
  ASSERT_TRUE(events.wait_until([&] { return events.accepted.size() == 1; }));
  std::vector<RawSocket> late(5);
  {
    const DescriptorLimit limit(256);
    std::vector<int> fill;
    for (int next; (next = ::open("/dev/null", O_RDONLY)) >= 0;) fill.push_back(next);

    for (RawSocket& socket : late) ASSERT_TRUE(socket.connect(address));
    for (RawSocket& socket : late) EXPECT_TRUE(socket.at_end());
    ASSERT_TRUE(old.send("still served"));
    EXPECT_TRUE(events.wait_until([&] { return events.received[events.accepted[0]] == "still served"; }));

    for (const int descriptor : fill) ::close(descriptor);
  }
  RawSocket later(address);
  EXPECT_TRUE(events.wait_until([&] { return events.accepted.size() == 2; }));
}

TEST_F(AsioTransportOnLoopback, ADoorTakesItsShareOfTheDescriptorsAndNoMore) {
  constexpr size_t kShare = 40;
  {
    const DescriptorLimit limit(2 * kShare);
    start();
  }
  std::vector<RawSocket> peers;
  for (size_t i = 0; i < kShare + 5; ++i) peers.emplace_back(address);

  for (size_t i = kShare; i < peers.size(); ++i) EXPECT_TRUE(peers[i].at_end()) << i;
  EXPECT_TRUE(events.wait_until([&] { return events.accepted.size() == kShare; }));
  peers.clear();
  ASSERT_TRUE(events.wait_until([&] { return events.closed.size() == kShare; }));
  RawSocket later(address);
  EXPECT_TRUE(events.wait_until([&] { return events.accepted.size() == kShare + 1; }));
}

}  // namespace
}  // namespace ringkv
