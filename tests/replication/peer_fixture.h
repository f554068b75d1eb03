// A coordinator and a replica of one node, with no shell around them: messages are carried by hand, commits
// happen when the test says so.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replication/coordinator.h"
#include "replication/replica.h"
#include "tests/replication/dispatch.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {

class PeerFixture {
 public:
  static constexpr NodeId kSelf{1};

  explicit PeerFixture(RingDescription description = one_member()) : ring(std::move(description)) {
    restart();
  }

  static RingDescription one_member() {
    RingDescription ring;
    ring.replicas = 1;
    ring.members = {{.node = kSelf, .disk = DiskId{1}, .name = "n1", .rack = "a"}};
    ring.owners.assign(kTestPartitions, 0);
    ring.buckets = {BucketDescription(), {.name = "lww", .conflict = BucketConflict::kLastWriterWins}};
    ring.secret = std::string(32, 's');
    return ring;
  }

  // kill -9 and start.
  void restart() {
    coordinator.reset();
    replica.reset();
    if (store_is_open) fixture.kill();
    store_is_open = true;
    hints = std::make_unique<HintStore>(*fixture.engine, *fixture.store, RecoveredHints());
    replica = std::make_unique<Replica>(
        Replica::Settings{.self = kSelf, .placement = {.partitions = kTestPartitions}}, ring, *fixture.store,
        *hints, wholeness);
    coordinator = std::make_unique<Coordinator>(
        Coordinator::Settings{.self = kSelf, .boot = fixture.store->actor().boot, .requests_max = 100}, ring);
    waiting.clear();
    answers.clear();
  }

  Coordinator::Arrival arrival(uint64_t request) const {
    return {.requester = {1, request},
            .deadline = now + std::chrono::seconds(5),
            .now = now,
            .wall_now = wall_now,
            .backlog_bytes = backlog_bytes};
  }

  template <class Request>
  void ask(uint64_t request, Request body) {
    MessageOutbox outbox;
    coordinator->on(arrival(request), std::move(body), outbox);
    carry(outbox);
  }

  // Delivers what may leave at once; keeps what waits for the disk, and what is for the disk.
  void carry(MessageOutbox& outbox) {
    for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
      if (envelope.after_records) {
        waiting.push_back(std::move(envelope.message));
      } else {
        deliver(std::move(envelope.message));
      }
    }
  }

  void deliver(Message message) {
    MessageOutbox outbox;
    if (!dispatch(kSelf, message, {now, wall_now}, *replica, *coordinator, outbox)) {
      if (auto* answer = std::get_if<ClientAnswer>(&message)) answers.push_back(std::move(*answer));
      if (auto* read = std::get_if<ReadRecord>(&message)) reads.push_back(std::move(*read));
    }
    carry(outbox);
  }

  void commit() { finish(begin_commit()); }
  Commit begin_commit() { return fixture.store->take(); }
  void finish(const Commit& commit) {
    ASSERT_TRUE(fixture.engine->write(*commit.batch, commit.sync).ok());
    fixture.store->committed(commit);
    for (Message& message : std::exchange(waiting, {})) deliver(std::move(message));
    MessageOutbox outbox;
    replica->on_committed(commit.number, now, wall_now, outbox);
    carry(outbox);
  }

  // The disk answers what was asked of it.
  void read_disk() {
    for (ReadRecord& read : std::exchange(reads, {})) {
      RecordRead result{read.ticket, {}, {}};
      const Result<Lookup> found = fixture.engine->get(Family::kData, read.place.storage_key, result.bytes);
      if (!found.ok()) result.status = found.status();
      MessageOutbox outbox;
      replica->on(std::move(result), now, wall_now, outbox);
      carry(outbox);
    }
  }

  void tick() {
    MessageOutbox outbox;
    coordinator->tick(now, wall_now, outbox);
    carry(outbox);
  }

  // The answer to a request, or nullptr.
  const ClientReply* answer(uint64_t request) const {
    for (const ClientAnswer& answer : answers) {
      if (answer.requester.request == request) return &answer.reply;
    }
    return nullptr;
  }

  // Put or get to the end.
  PutReceipt put(const std::string& key, const std::string& value,
                 std::optional<std::string> context = std::nullopt, const std::string& bucket = "") {
    ask(++last_request,
        ClientPut{.bucket = bucket, .key = key, .value = value, .context = std::move(context)});
    commit();
    return std::get<PutReceipt>(answer(last_request)->body);
  }
  PutReceipt remove(const std::string& key, std::optional<std::string> context = std::nullopt) {
    ask(++last_request, ClientPut{.key = key, .tombstone = true, .context = std::move(context)});
    commit();
    return std::get<PutReceipt>(answer(last_request)->body);
  }
  GetResult get(const std::string& key, const std::string& bucket = "") {
    ask(++last_request, ClientGet{.bucket = bucket, .key = key});
    return std::get<GetResult>(answer(last_request)->body);
  }

  Ring ring;
  Wholeness wholeness{kTestPartitions};
  std::unique_ptr<HintStore> hints;
  StoreFixture fixture;
  bool store_is_open = false;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<Coordinator> coordinator;
  Time now{};
  WallMicros wall_now = 1'000'000'000;
  std::vector<Message> waiting;
  std::vector<ReadRecord> reads;
  std::vector<ClientAnswer> answers;
  size_t backlog_bytes = 0;
  uint64_t last_request = 1000;
};

}  // namespace ringkv
