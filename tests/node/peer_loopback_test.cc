// Two nodes' doors and links on two real loops, over loopback.
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "node/asio_runtime.h"
#include "node/peer_door.h"
#include "node/peer_links.h"
#include "tests/node/loop_fixture.h"
#include "tests/node/peer_samples.h"

namespace ringkv {
namespace {

using std::chrono::seconds;

// One node's half: everything in it lives on its loop but what a test waits for.
class PeerSide final : public PeerReception, public TransportHandler, public LoopHandler {
 public:
  PeerSide(NodeId node, Boot boot)
      : node_(node),
        boot_(boot),
        door_(runtime_.transport(), runtime_, log_, faults_, *this),
        links_(runtime_.transport(), runtime_, random_, log_, faults_,
               {.hello = [this] { return hello(); },
                .on_welcome = [](const PeerWelcome&, const Address&) { return true; },
                .on_refused = [this](NodeId, const Status& why) { change([&] { refused = why; }); },
                .on_unreachable = [this](NodeId, const Status&) { change([&] { ++unreachable; }); },
                .on_reachable = [this](NodeId, bool) { change([&] { ++reachable; }); }}) {
    runtime_.set_transport_handler(*this);
  }
  ~PeerSide() override { stop(); }

  void start() {
    const Result<Address> listening = runtime_.listen("127.0.0.1:0", Door::kPeer);
    ASSERT_TRUE(listening.ok()) << listening.status().to_string();
    address = *listening;
    runtime_.start(*this);
  }
  void stop() { runtime_.stop(); }
  void post(std::function<void(PeerLinks&)> call) {
    runtime_.post([this, call = std::move(call)] { call(links_); });
  }
  Time now() const { return runtime_.now(); }
  [[nodiscard]] bool wait_until(const std::function<bool()>& true_now) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, true_now);
  }

  void on_hello(const PeerHello& hello, std::function<void(Result<PeerWelcome>)> answer) override {
    change([&] { greeted = hello; });
    if (hello.to && hello.to != node_) return answer(forbidden("another node was meant"));
    PeerWelcome welcome = sample_welcome();
    welcome.node = node_;
    welcome.boot = boot_;
    answer(welcome);
  }
  void on_join(const JoinRequest&, std::function<void(JoinAnswer)> answer) override {
    answer(JoinAnswer{{}, std::string(size_t{20} << 20, 'd'), sample_states()});
  }
  void on_peer_message(NodeId from, uint64_t, uint64_t, PeerMessage&& message) override {
    if (const auto* put = std::get_if<ReplicaPut>(&message))
      links_.send(from, ReplicaPutAck{put->request, node_, {}}, 1, 1);
    change([&] { heard.push_back(std::move(message)); });
  }

  void on_accepted(ConnectionId connection, Door door, const Address& from) override {
    door_.on_accepted(connection, door, from);
  }
  void on_connected(ConnectionId connection) override { links_.on_connected(connection); }
  size_t on_bytes(ConnectionId connection, std::string_view available) override {
    return door_.owns(connection) ? door_.on_bytes(connection, available)
                                  : links_.on_bytes(connection, available);
  }
  void on_closed(ConnectionId connection, const Status& why) override {
    door_.on_closed(connection, why);
    links_.on_closed(connection, why);
  }
  void on_tick(Time now) override {
    door_.on_tick(now);
    links_.on_tick(now);
  }
  void on_turn_end() override {}

  Address address;
  // Under the lock: within wait_until().
  std::optional<PeerHello> greeted;
  std::vector<PeerMessage> heard;
  std::optional<Status> refused;
  int reachable = 0;
  int unreachable = 0;

 private:
  PeerHello hello() const {
    PeerHello hello = sample_hello();
    hello.node = node_;
    hello.boot = boot_;
    return hello;
  }
  template <class Change>
  void change(const Change& make) {
    {
      const std::lock_guard lock(mutex_);
      make();
    }
    changed_.notify_all();
  }

  const NodeId node_;
  const Boot boot_;
  std::mutex mutex_;
  std::condition_variable changed_;
  NoLog log_;
  SeededRandom random_{1};
  PeerFaults faults_;
  AsioRuntime runtime_{"peer", 0};
  PeerDoor door_;
  PeerLinks links_;
};

constexpr NodeId kA{1}, kB{2};

class PeersOnLoopback : public testing::Test {
 protected:
  void SetUp() override {
    a.start();
    b->start();
    a.post([this](PeerLinks& links) { links.set_address(kB, b->address); });
    b->post([this](PeerLinks& links) { links.set_address(kA, a.address); });
  }
  void TearDown() override {
    a.stop();
    b.reset();
  }

  PeerSide a{kA, {0xB1}};
  std::optional<PeerSide> b{std::in_place, kB, Boot{0xB2}};
};

ReplicaPut put_of(RequestNumber request, size_t record_bytes, Time now) {
  const auto record = std::make_shared<const std::string>(record_bytes, 'r');
  return {request, {}, "b", "k", record, {}, {}, true, now + seconds(60)};
}

TEST_F(PeersOnLoopback, TheyGreetAndAnswerEachOther) {
  a.post([&](PeerLinks& links) {
    links.send(kB, Probe{1, {}}, 1, 1);
    for (RequestNumber request = 1; request <= 1000; ++request)
      links.send(kB, put_of(request, 100, a.now()), 1, 1);
  });
  ASSERT_TRUE(b->wait_until([&] { return b->heard.size() == 1001; }));
  ASSERT_TRUE(a.wait_until([&] { return a.heard.size() == 1000; }));
  for (RequestNumber request = 1; request <= 1000; ++request)
    EXPECT_EQ(std::get<ReplicaPutAck>(a.heard[request - 1]).request, request);
  EXPECT_EQ(b->greeted->node, kA);
}

TEST_F(PeersOnLoopback, ALargeRecordArrivesAndDelaysNoProbe) {
  a.post([&](PeerLinks& links) {
    links.send(kB, put_of(1, size_t{60} << 20, a.now()), 1, 1);
    links.send(kB, put_of(2, 10, a.now()), 1, 1);
    links.send(kB, Probe{1, {}}, 1, 1);
  });
  ASSERT_TRUE(a.wait_until([&] { return a.heard.size() == 2; }));
  ASSERT_EQ(b->heard.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Probe>(b->heard[0]));
  EXPECT_EQ(std::get<ReplicaPut>(b->heard[1]).record->size(), size_t{60} << 20);
  EXPECT_EQ(std::get<ReplicaPut>(b->heard[2]).request, 2U);
}

TEST_F(PeersOnLoopback, ANodeThatIsGoneIsUnreachable) {
  a.post([&](PeerLinks& links) { links.send(kB, put_of(1, 10, a.now()), 1, 1); });
  ASSERT_TRUE(a.wait_until([&] { return a.reachable == 1; }));
  b.reset();
  EXPECT_TRUE(a.wait_until([&] { return a.unreachable == 1; }));
}

TEST_F(PeersOnLoopback, WhoIsMeantIsSomebodyElse) {
  a.post([&](PeerLinks& links) {
    links.set_address(NodeId{9}, b->address);
    links.greet(NodeId{9});
  });
  EXPECT_TRUE(a.wait_until([&] { return a.refused.has_value() && a.unreachable == 1; }));
}

TEST_F(PeersOnLoopback, AJoinerGetsARingLargerThanAFrame) {
  std::promise<JoinAnswer> answered;
  std::promise<Result<PeerWelcome>> identified;
  a.post([&](PeerLinks& links) {
    links.join(b->address, sample_join(), seconds(20),
               [&](JoinAnswer answer) { answered.set_value(std::move(answer)); });
    links.identify(b->address, kB, seconds(20),
                   [&](Result<PeerWelcome> found) { identified.set_value(std::move(found)); });
  });
  const JoinAnswer answer = answered.get_future().get();
  EXPECT_TRUE(answer.status.ok()) << answer.status.to_string();
  EXPECT_EQ(answer.description.size(), size_t{20} << 20);
  EXPECT_EQ(identified.get_future().get()->boot, Boot{0xB2});
}

}  // namespace
}  // namespace ringkv
