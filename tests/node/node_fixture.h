// A node on a simulated disk, with an executor that does nothing until the test says so and a clock that
// stands still.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "node/node.h"
#include "storage/memory_engine.h"
#include "tests/node/fake_transport.h"

namespace ringkv {

class NodeFixture {
 public:
  explicit NodeFixture(uint64_t disk_reserve_bytes = 0) : disk_reserve_bytes_(disk_reserve_bytes) { start(); }

  void start() {
    node = std::make_unique<Node>(Environment{clock, transport, executor, random, log,
                                              [this](OpenMode mode) {
                                                ++openings;
                                                return open_memory(disk, mode);
                                              }},
                                  Node::Settings{.identity = {NodeId{1}, DiskId{2}, ClusterId{3}, "n1"},
                                                 .founding = {.bootstrap = true,
                                                              .replicas = 1,
                                                              .partitions = 16,
                                                              .rack = "a",
                                                              .secret = std::string(32, 's')},
                                                 .life = {.cache_bytes = 1 << 16},
                                                 .disk_reserve_bytes = disk_reserve_bytes_});
    node->start([this](Status status) { started = std::move(status); });
    work();
  }
  void kill() {
    executor.jobs.clear();
    node.reset();
  }

  // One turn: what is off the loop is done, its continuations run, the turn ends.
  bool turn() {
    const bool any = !executor.jobs.empty();
    for (auto& [job, then] : std::exchange(executor.jobs, {})) {
      job();
      job = nullptr;
      then();
    }
    node->on_turn_end();
    return any;
  }
  void work() {
    node->on_turn_end();
    while (turn()) {
    }
  }
  void pass(Duration duration) {
    clock.time += duration;
    node->on_tick(clock.time);
    work();
  }

  ClientReply ask(ClientRequest::Body body) {
    auto reply = std::make_shared<std::optional<ClientReply>>();
    begin(std::move(body), reply);
    work();
    return reply->value_or(ClientReply{unavailable("not answered yet"), {}, 0, {}});
  }
  void begin(ClientRequest::Body body, std::shared_ptr<std::optional<ClientReply>> reply) {
    node->call({std::move(body), std::chrono::seconds(5)},
               [reply](ClientReply answer) { *reply = std::move(answer); });
  }
  // The first put of a cluster opens its ring: an epoch of its own.
  void open_ring() { (void)ask(ClientPut{.key = "gone", .tombstone = true}); }
  Status put(const std::string& key, const std::string& value) {
    return ask(ClientPut{.key = key, .value = value, .operation = {9, ++operations}}).status;
  }
  std::vector<std::string> get(const std::string& key) {
    const ClientReply reply = ask(ClientGet{.key = key});
    return reply.status.ok() ? std::get<GetResult>(reply.body).values
                             : std::vector<std::string>{reply.status.message()};
  }

  struct StillClock final : Clock {
    Time now() const override { return time; }
    WallMicros wall_now() const override {
      return static_cast<WallMicros>(time.time_since_epoch().count()) + ahead;
    }
    Time time{std::chrono::seconds(1)};
    WallMicros ahead = 1'000'000;
  };
  struct HeldExecutor final : Executor {
    void run(Lane, std::function<void()> job, std::function<void()> then) override {
      jobs.emplace_back(std::move(job), std::move(then));
    }
    std::deque<std::pair<std::function<void()>, std::function<void()>>> jobs;
  };

  MemoryDisk disk;
  StillClock clock;
  FakeTransport transport;
  HeldExecutor executor;
  SeededRandom random{1};
  NoLog log;
  uint64_t operations = 0;
  uint64_t openings = 0;  // of the engine
  Status started = unavailable("not yet");
  std::unique_ptr<Node> node;

 private:
  const uint64_t disk_reserve_bytes_;
};

}  // namespace ringkv
