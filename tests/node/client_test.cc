#include "ringkv/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "base/limits.h"
#include "base/ring_description.h"
#include "node/asio_runtime.h"
#include "node/wire_codec.h"
#include "tests/node/loop_fixture.h"
#include "tests/node/raw_socket.h"

namespace ringkv {
namespace {

// A node of one map, behind the real wire.
class MapNode final : public TransportHandler {
 public:
  explicit MapNode(Boot boot, const Address& address = "127.0.0.1:0") : boot_(boot) {
    runtime_.set_transport_handler(*this);
    address_ = *runtime_.listen(address, Door::kClient);
    runtime_.start(idle_);
  }
  ~MapNode() override { runtime_.stop(); }

  const Address& address() const { return address_; }
  // Before any client connects.
  void hand_out(const RoutingTable& table) { table_ = table; }
  bool holds(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return values_.contains(key);
  }
  size_t keys() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }
  std::atomic<int> connections = 0;

  void on_accepted(ConnectionId, Door, const Address&) override { ++connections; }
  void on_connected(ConnectionId) override {}
  void on_closed(ConnectionId, const Status&) override {}
  size_t on_bytes(ConnectionId connection, std::string_view available) override {
    size_t used = 0;
    for (;;) {
      const auto frame = read_frame(available.substr(used), kFrameBytesMax);
      if (!frame.ok()) {
        runtime_.transport().close(connection);
        return available.size();
      }
      if (!frame->has_value()) return used;
      used += (*frame)->bytes;
      answer(connection, **frame);
    }
  }

 private:
  void answer(ConnectionId connection, const Frame& frame) {
    std::string& out = runtime_.transport().output(connection);
    if (frame.type == FrameType::kHello)
      return codec_.encode(Welcome{kProtocolVersion, {1}, {boot_.value}, "n", boot_}, 1, out);
    const std::lock_guard lock(mutex_);
    const Result<ClientRequest> request = codec_.decode_client_request(frame);
    ClientReply reply{{}, {}, 1, boot_};
    if (const auto* put = std::get_if<ClientPut>(&request->body)) {
      reply.status = check_value(put->key, put->value.size());
      if (reply.status.ok()) {
        values_[put->key] = put->value;
        reply.body = PutReceipt{1, {}, {}, ""};
      }
    } else if (const auto* get = std::get_if<ClientGet>(&request->body)) {
      GetResult result;
      if (values_.contains(get->key)) result.values.push_back(values_[get->key]);
      reply.body = result;
    } else if (table_ && std::holds_alternative<ClientRouting>(request->body)) {
      reply.body = *table_;
    }
    codec_.encode(reply, frame.request, out);
  }

  std::mutex mutex_;
  std::optional<RoutingTable> table_;
  const Boot boot_;
  IdleLoop idle_;
  AsioRuntime runtime_{"map-node", 0};
  WireCodec codec_;
  std::map<std::string, std::string> values_;
  Address address_;
};

TEST(Client, PutsAndGetsThroughTheRealWire) {
  MapNode node({1});
  const auto client = Client::connect({.nodes = {node.address()}});
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  EXPECT_EQ((*client)->node(), node.address());
  const std::string large(kValueBytesMax, 'v');

  ASSERT_TRUE((*client)->put("large", large).ok());
  ASSERT_TRUE((*client)->put("empty", "").ok());

  EXPECT_EQ((*client)->get("large")->values[0], large);
  EXPECT_EQ((*client)->get("empty")->values, std::vector<std::string>{""});
  EXPECT_FALSE((*client)->get("absent")->found());
}

TEST(Client, TooLargeIsRefusedAndTheClientStaysUsable) {
  MapNode node({1});
  const auto client = Client::connect({.nodes = {node.address()}});
  ASSERT_TRUE(client.ok());
  EXPECT_EQ((*client)->put("k", std::string(kValueBytesMax + 1, 'v')).status().code(), StatusCode::kTooLarge);
  EXPECT_EQ((*client)->put(std::string(kKeyBytesMax + 1, 'k'), "v").status().code(), StatusCode::kTooLarge);
  EXPECT_EQ((*client)->put("", "v").status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE((*client)->put(std::string(kKeyBytesMax, 'k'), "v").ok());
  EXPECT_EQ(node.connections, 1);
}

TEST(Client, TheFirstNodeThatAnswersServes) {
  Address nobody;
  {
    MapNode gone({1});
    nobody = gone.address();
  }
  MapNode node({2});
  const auto client = Client::connect({.nodes = {nobody, node.address()}});
  ASSERT_TRUE(client.ok());
  EXPECT_EQ((*client)->node(), node.address());
}

TEST(Client, NobodyAnsweringNamesEachWithItsReason) {
  Address nobody;
  {
    MapNode gone({1});
    nobody = gone.address();
  }
  const auto client = Client::connect({.nodes = {nobody, nobody}});
  EXPECT_EQ(client.status(), unavailable("no node answers: " + nobody + ": Connection refused; " + nobody +
                                         ": Connection refused"));
}

TEST(Client, OptionsThatCannotWorkAreRefusedBeforeAnyAttempt) {
  EXPECT_EQ(Client::connect({.nodes = {}}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Client::connect({.nodes = {"localhost"}}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Client, GoesOnWithTheNextNodeWhenItsNodeIsGone) {
  auto first = std::make_unique<MapNode>(Boot{1});
  MapNode second({2});
  const auto client = Client::connect({.nodes = {first->address(), second.address()}});
  ASSERT_TRUE(client.ok());
  ASSERT_TRUE((*client)->put("k", "v").ok());

  first.reset();

  const Result<PutReceipt> receipt = (*client)->put("k", "v");
  EXPECT_TRUE(receipt.ok()) << receipt.status().to_string();
  EXPECT_EQ((*client)->node(), second.address());
}

// Row B5, over real connections; then one of the owners goes.
TEST(Client, GoesToTheFirstOwnerOfEachKeyAndToTheNextWhenThatIsGone) {
  RingDescription ring;
  ring.cluster = ClusterId{1};
  ring.replicas = 2;
  ring.secret = std::string(32, 's');
  ring.buckets = {{}};
  ring.owners = {0, 1, 2, 1, 0, 2, 0, 1};
  std::vector<std::unique_ptr<MapNode>> nodes;
  RoutingTable table;
  for (uint64_t id = 1; id <= 3; ++id) {
    nodes.push_back(std::make_unique<MapNode>(Boot{id}));
    ring.members.push_back({.node = {id}, .disk = {id}, .name = "n" + std::to_string(id), .rack = "a"});
    table.addresses.push_back({NodeId{id}, nodes.back()->address()});
  }
  table.description = encode_ring_description(ring);
  for (const auto& node : nodes) node->hand_out(table);
  const auto client = Client::connect({.nodes = {nodes[0]->address()}});
  ASSERT_TRUE(client.ok());
  const auto put_all = [&](const std::string& prefix) {
    for (int i = 0; i < 200; ++i) EXPECT_TRUE((*client)->put(prefix + std::to_string(i), "v").ok());
  };
  const auto node_named = [&](const std::string& name) -> MapNode& { return *nodes[name.back() - '1']; };
  while (nodes[1]->keys() == 0 || nodes[2]->keys() == 0) put_all("until all are connected");

  put_all("key");
  for (int i = 0; i < 200; ++i) {
    const std::string key = "key" + std::to_string(i);
    EXPECT_TRUE(node_named((*client)->owners_of(key)[0]).holds(key)) << key;
  }

  nodes[2].reset();
  put_all("later");
  for (int i = 0; i < 200; ++i) {
    const std::string key = "later" + std::to_string(i);
    std::vector<std::string> owners = (*client)->owners_of(key);
    ASSERT_EQ(owners.size(), 2U);
    std::erase(owners, "n3");
    EXPECT_TRUE(node_named(owners[0]).holds(key)) << key;
  }
}

TEST(Client, ServesManyThreadsOverOneConnection) {
  MapNode node({1});
  const auto client = Client::connect({.nodes = {node.address()}});
  ASSERT_TRUE(client.ok());
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        const std::string key = std::to_string(thread), value = std::to_string(i);
        if (!(*client)->put(key, value).ok()) continue;
        const Result<GetResult> got = (*client)->get(key);
        if (got.ok() && got->values == std::vector<std::string>{value}) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4000);
  EXPECT_EQ(node.connections, 1);
}

TEST(Client, ACallbackRunsOnTheClientsThreadAndMaySendTheNext) {
  MapNode node({1});
  const auto client = Client::connect({.nodes = {node.address()}});
  ASSERT_TRUE(client.ok());
  std::promise<std::string> value;
  (*client)->put("k", "v", {}, [&](const Result<PutReceipt>& put) {
    EXPECT_TRUE(put.ok());
    (*client)->get("k", {}, [&](const Result<GetResult>& got) { value.set_value(got->values[0]); });
  });
  EXPECT_EQ(value.get_future().get(), "v");
}

// What is under way when a client is destroyed is answered.
TEST(Client, DestroyingItAnswersWhatIsUnderWay) {
  IdleLoop idle;
  EventLog silent;
  WireCodec codec;
  AsioRuntime runtime("silent", 0);
  silent.use_bytes = [&](ConnectionId connection, std::string_view available) {
    const auto frame = read_frame(available, kFrameBytesMax);
    if ((*frame)->type == FrameType::kHello)
      codec.encode(Welcome{kProtocolVersion, {1}, {1}, "n", {1}}, 1, runtime.transport().output(connection));
    return available.size();
  };
  runtime.set_transport_handler(silent);
  const Address address = *runtime.listen("127.0.0.1:0", Door::kClient);
  runtime.start(idle);
  auto client = Client::connect({.nodes = {address}, .route = false});
  ASSERT_TRUE(client.ok());
  std::promise<StatusCode> put, get;
  (*client)->put("k", "v", {}, [&](const Result<PutReceipt>& r) { put.set_value(r.status().code()); });
  (*client)->get("k", {}, [&](const Result<GetResult>& r) { get.set_value(r.status().code()); });

  client->reset();

  EXPECT_EQ(put.get_future().get(), StatusCode::kUnknownOutcome);
  EXPECT_EQ(get.get_future().get(), StatusCode::kUnavailable);
  runtime.stop();
}

}  // namespace
}  // namespace ringkv
