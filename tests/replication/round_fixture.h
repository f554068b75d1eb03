// Nodes with all that converges and a replica each, no coordinators, over a network and disks that the test
// holds in its hands: letters lie in `in_flight` until they are delivered, doubled or lost; disks commit and
// read when the test says so, or by themselves in run(). A disk outlives the lives of its node.
//
// Node i (1, 2, ...) is named n1, n2, ... All own every partition, unless there are fewer replicas than
// nodes.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "replication/convergence.h"
#include "replication/replica.h"
#include "storage/memory_engine.h"
#include "storage/recovery.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {

class RoundFixture {
 public:
  struct Letter {
    NodeId from;
    NodeId to;
    Message message;
    std::shared_ptr<const void> note = {};  // of the test's own
  };
  struct Node {
    explicit Node(NodeId id) : id(id), disk(std::make_unique<MemoryDisk>()) {}

    NodeId id;
    std::unique_ptr<MemoryDisk> disk;
    uint64_t lives = 0;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<RecordStore> store;
    std::unique_ptr<HintStore> hints;
    std::unique_ptr<Wholeness> wholeness;
    std::unique_ptr<Replica> replica;
    std::unique_ptr<Convergence> convergence;
    std::deque<std::pair<BatchNumber, Letter>> waiting;  // for their batch
    std::optional<Commit> commit;                        // under way
    std::vector<Message> reads;

    bool up() const { return store != nullptr; }
  };

  struct Settings {
    size_t nodes = 3;
    Duration round_interval = std::chrono::seconds(10);
    uint32_t replicas = 0;  // 0: as many as nodes
    uint32_t partitions = kTestPartitions;
    Duration drop_grace = std::chrono::minutes(10);
    // Of a node by its number; by default it stands on the node's MemoryDisk.
    std::function<std::unique_ptr<Engine>(uint64_t)> open_engine = nullptr;
  };

  explicit RoundFixture(Settings settings)
      : ring(description(settings.nodes, settings.replicas, settings.partitions)),
        settings_(std::move(settings)) {
    for (size_t i = 0; i < settings_.nodes; ++i) {
      nodes.push_back(std::make_unique<Node>(NodeId{i + 1}));
      start(i + 1);
    }
  }
  explicit RoundFixture(size_t count, Duration round_interval = std::chrono::seconds(10),
                        uint32_t replicas = 0)
      : RoundFixture(Settings{.nodes = count, .round_interval = round_interval, .replicas = replicas}) {}

  static RingDescription description(size_t count, uint32_t replicas = 0,
                                     uint32_t partitions = kTestPartitions) {
    RingDescription ring;
    ring.replicas = replicas == 0 ? static_cast<uint32_t>(count) : replicas;
    for (size_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(i + 1);
      ring.members.push_back(
          {.node = NodeId{i + 1}, .disk = DiskId{i + 1}, .name = "n" + number, .rack = "r" + number});
    }
    for (uint32_t partition = 0; partition < partitions; ++partition) {
      ring.owners.push_back(static_cast<uint16_t>(partition % count));
    }
    ring.buckets = {BucketDescription(), {.name = "lww", .conflict = BucketConflict::kLastWriterWins}};
    ring.secret = std::string(32, 's');
    return ring;
  }

  Node& node(uint64_t number) { return *nodes.at(number - 1); }
  static Place place(const std::string& key, uint32_t partitions = kTestPartitions) {
    return place_of({.partitions = partitions}, "", key);
  }

  // ---- Lives

  void start(uint64_t number) {
    Node& node = this->node(number);
    node.engine =
        settings_.open_engine ? settings_.open_engine(number) : std::make_unique<MemoryEngine>(*node.disk);
    const Actor actor{node.id, Boot{node.id.value * 100'000 + ++node.lives}};
    Result<RecoveredStore> recovered = recover_store(*node.engine, settings_.partitions, actor);
    node.store = std::make_unique<RecordStore>(
        *node.engine, std::move(*recovered),
        RecordStore::Settings{.secret = ring.description().secret, .cache_bytes = 1 << 16});
    node.hints = std::make_unique<HintStore>(*node.engine, *node.store, *recover_hints(*node.engine));
    node.wholeness = std::make_unique<Wholeness>(settings_.partitions);
    ASSERT_TRUE(node.wholeness->load(*read_meta(*node.engine, kIncompleteKey)).ok());
    node.replica = std::make_unique<Replica>(
        Replica::Settings{.self = node.id, .placement = {.partitions = settings_.partitions}}, ring,
        *node.store, *node.hints, *node.wholeness);
    node.convergence =
        std::make_unique<Convergence>(ConvergenceSettings{.self = node.id,
                                                          .boot = actor.boot,
                                                          .round_interval = settings_.round_interval,
                                                          .drop_grace = settings_.drop_grace},
                                      ring, *node.store, *node.hints, *node.wholeness);
    for (const auto& other : nodes) {
      if (other->id == node.id || !other->up()) continue;
      act(*other, [&](auto& outbox) { other->convergence->on_boot(node.id, moment(), outbox); });
    }
  }

  // What it held in memory is gone. What it had sent may still arrive, but for what rounds say: each
  // connection speaks for one life.
  void kill(uint64_t number) {
    Node& node = this->node(number);
    node.convergence.reset();
    node.replica.reset();
    node.hints.reset();
    node.store.reset();
    node.engine.reset();
    node.waiting.clear();
    node.commit.reset();
    node.reads.clear();
    std::erase_if(in_flight, [&](const Letter& letter) {
      return letter.to == node.id || (letter.from == node.id && is_of_rounds(letter.message));
    });
  }

  // ---- What happens

  bool deliver(size_t index) {
    Letter letter = std::move(in_flight[index]);
    in_flight.erase(in_flight.begin() + static_cast<ptrdiff_t>(index));
    return receive(std::move(letter));
  }
  bool receive(Letter letter) {
    if (letter.to.value > nodes.size()) {
      if (on_client) on_client(node(letter.from.value), letter);
      return true;
    }
    Node& to = node(letter.to.value);
    if (!to.up()) return false;
    act(to, [&](auto& outbox) { dispatch(to, letter, outbox); });
    return true;
  }

  bool begin_commit(Node& node) {
    if (!node.up() || node.commit || !node.store->has_staged()) return false;
    node.commit = node.store->take();
    if (on_take) on_take(node, *node.commit);
    return true;
  }
  bool finish_commit(Node& node) {
    if (!node.up() || !node.commit) return false;
    const Commit commit = *std::exchange(node.commit, std::nullopt);
    EXPECT_TRUE(node.engine->write(*commit.batch, commit.sync).ok());
    node.store->committed(commit);
    while (!node.waiting.empty() && node.waiting.front().first <= commit.number) {
      Letter letter = std::move(node.waiting.front().second);
      node.waiting.pop_front();
      send(std::move(letter));
    }
    act(node, [&](auto& outbox) { node.convergence->on_committed(commit.number, moment(), outbox); });
    act(node, [&](auto& outbox) { node.replica->on_committed(commit.number, now, wall_now, outbox); });
    return true;
  }

  bool read_disk(Node& node) {
    std::vector<Message> reads = std::exchange(node.reads, {});
    for (Message& read : reads) {
      act(node, [&](auto& outbox) { answer_read(node, read, outbox); });
    }
    return !reads.empty();
  }

  bool deliver_all() {
    bool some = false;
    for (size_t i = 0; i < in_flight.size();) {
      if (hold && hold(in_flight[i])) {
        ++i;
        continue;
      }
      deliver(i);
      some = true;
      i = 0;
    }
    return some;
  }

  // Delivers, reads and commits until nothing is left to do; letters held back stay.
  void run() {
    for (bool busy = true; busy;) {
      busy = deliver_all();
      for (const auto& node : nodes) {
        busy = read_disk(*node) || busy;
        busy = (begin_commit(*node) | finish_commit(*node)) || busy;
      }
    }
  }
  void pass(Duration time) {
    now += time;
    wall_now += static_cast<uint64_t>(time.count());
    for (const auto& node : nodes) tick(*node);
  }
  void tick(Node& node) {
    if (node.up()) act(node, [&](auto& outbox) { node.convergence->tick(moment(), outbox); });
  }
  // Time passes, and all that falls due happens.
  void run_for(Duration time, Duration step = std::chrono::milliseconds(20)) {
    for (Duration passed{}; passed < time; passed += step) {
      pass(step);
      run();
    }
  }

  template <class Act>
  void act(Node& node, Act act) {
    MessageOutbox outbox;
    act(outbox);
    carry(node, outbox);
  }

  // ---- Clients and operators

  // A version by one node's replica, known to no other.
  Dot put(uint64_t number, const std::string& key, const std::string& value, bool tombstone = false,
          std::optional<CausalContext> context = std::nullopt) {
    Node& at = node(number);
    act(at, [&](auto& outbox) {
      at.replica->on(StampPut{.request = 1,
                              .place = place(key, settings_.partitions),
                              .key = key,
                              .kind = tombstone ? VersionKind::kTombstone : VersionKind::kValue,
                              .value = value,
                              .context = std::move(context),
                              .deadline = now + std::chrono::seconds(5)},
                     now, wall_now, outbox);
    });
    return {at.store->actor(), at.store->counter()};
  }
  uint64_t repair(uint64_t number, ClientRepair repair = {}) {
    Node& at = node(number);
    const Arrival arrival{.requester = {1, ++last_request},
                          .deadline = now + std::chrono::minutes(10),
                          .now = now,
                          .wall_now = wall_now};
    act(at, [&](auto& outbox) { at.convergence->on(arrival, repair, outbox); });
    return last_request;
  }
  // To its end.
  RepairReport repaired(uint64_t number, ClientRepair what = {}) {
    const uint64_t request = repair(number, std::move(what));
    for (int i = 0; i < 3000 && !answers.contains(request); ++i) {
      run();
      pass(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(answers.contains(request) && answers[request].status.ok())
        << answers[request].status.message();
    const auto* report = std::get_if<RepairReport>(&answers[request].body);
    return report == nullptr ? RepairReport() : *report;
  }

  // What one replica holds goes to another.
  void copy(uint64_t from, uint64_t to, const std::string& key, Source source = Source::kPut) {
    run();
    Record record = stored(from, key);
    node(from).store->restore(record.context);
    const Place where = place(key, settings_.partitions);
    Node& at = node(to);
    act(at, [&](auto& outbox) {
      at.replica->on(at.id,
                     ReplicaPut{.request = 0,
                                .place = where,
                                .key = key,
                                .record = at.store->encoded(where, key, record).bytes,
                                .source = source,
                                .deadline = now + std::chrono::seconds(5)},
                     now, wall_now, outbox);
    });
    run();
  }
  // The same version at all nodes.
  Dot put_everywhere(const std::string& key, const std::string& value, bool tombstone = false,
                     std::optional<CausalContext> context = std::nullopt) {
    const Dot dot = put(1, key, value, tombstone, std::move(context));
    for (uint64_t to = 2; to <= nodes.size(); ++to) copy(1, to, key);
    return dot;
  }
  // All nodes adopt it; it outlives them.
  void set_ring(const Ring& ring) {
    for (const auto& node : nodes) {
      act(*node, [&](auto& outbox) {
        node->replica->set_ring(ring, outbox);
        node->convergence->set_ring(ring, moment(), outbox);
      });
    }
  }
  void see_reachable(uint64_t viewer, uint64_t other, bool reachable) {
    ClusterView view;
    if (!reachable) view.unreachable = {NodeId{other}};
    Node& at = node(viewer);
    act(at, [&](auto& outbox) { at.convergence->set_view(view, moment(), outbox); });
  }

  // ---- What is there

  Record stored(uint64_t number, const std::string& key) {
    std::string bytes;
    const Result<Lookup> found =
        node(number).engine->get(Family::kData, place(key, settings_.partitions).storage_key, bytes);
    if (!found.ok() || *found == Lookup::kAbsent) return {};
    return *decode_record(bytes);
  }
  std::vector<std::string> values(uint64_t number, const std::string& key) {
    return live_values(stored(number, key), 0);
  }
  const ConvergenceStatistics& statistics(uint64_t number) { return node(number).convergence->statistics(); }
  Moment moment() const { return {now, wall_now}; }

  static bool is_of_rounds(const Message& message) {
    return std::holds_alternative<RoundCompare>(message) || std::holds_alternative<RoundDigests>(message) ||
           std::holds_alternative<RoundOpen>(message) || std::holds_alternative<RoundLeaves>(message) ||
           std::holds_alternative<RoundWalk>(message) || std::holds_alternative<RoundSlice>(message) ||
           std::holds_alternative<RangesOffered>(message) || std::holds_alternative<RangesTaken>(message);
  }

  Ring ring;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Letter> in_flight;
  std::map<uint64_t, ClientReply> answers;
  uint64_t last_request = 0;
  Time now{std::chrono::hours(1)};
  WallMicros wall_now = 1'000'000'000;
  std::function<void(Node&, Letter&)> on_written;           // every letter, to oneself too
  std::function<void(Node&, const Letter&)> on_client;      // what a node says to coordinators of clients
  std::function<void(Node&, const Letter&)> on_dispatched;  // after it was taken
  std::function<void(Node&, Commit&)> on_take;
  std::function<bool(const Letter&)> hold;  // true: it stays in flight

 private:
  void carry(Node& from, MessageOutbox& outbox) {
    for (MetaRecord& record : outbox.meta_records()) from.store->stage(record);
    for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
      Letter letter{from.id, envelope.to, std::move(envelope.message)};
      if (on_written) on_written(from, letter);
      if (envelope.after_records) {
        from.waiting.emplace_back(from.store->open_batch(), std::move(letter));
      } else {
        send(std::move(letter));
      }
    }
  }

  // What a node says to itself arrives at once.
  void send(Letter letter) {
    if (letter.to != letter.from) {
      in_flight.push_back(std::move(letter));
    } else {
      receive(std::move(letter));
    }
  }

  void dispatch(Node& to, Letter& letter, MessageOutbox& outbox) {
    std::visit([&](auto& body) { on(to, letter.from, body, outbox); }, letter.message);
    if (on_dispatched) on_dispatched(to, letter);
  }

  template <class Body>
  void on(Node& to, NodeId from, Body& body, MessageOutbox& outbox) {
    if constexpr (std::is_same_v<Body, ReplicaPut>) {
      to.replica->on(from, body, now, wall_now, outbox);
    } else if constexpr (std::is_same_v<Body, ReplicaGet>) {
      to.replica->on(from, body, now, outbox);
    } else if constexpr (std::is_same_v<Body, EraseRecord>) {
      to.replica->on(body, now, wall_now, outbox);
    } else if constexpr (std::is_same_v<Body, ReplicaPutAck>) {
      if ((body.request & kBackground) != 0) to.convergence->on(body, moment(), outbox);
      if ((body.request & kBackground) == 0 && on_client) on_client(to, {from, to.id, body});
    } else if constexpr (std::is_same_v<Body, RoundCompare> || std::is_same_v<Body, RoundOpen> ||
                         std::is_same_v<Body, RoundWalk> || std::is_same_v<Body, RoundDigests> ||
                         std::is_same_v<Body, RoundLeaves>) {
      to.convergence->on(from, body, moment(), outbox);
    } else if constexpr (std::is_same_v<Body, RoundSlice> || std::is_same_v<Body, RangesOffered> ||
                         std::is_same_v<Body, RangesTaken>) {
      to.convergence->on(from, std::move(body), moment(), outbox);
    } else if constexpr (std::is_same_v<Body, ClientAnswer>) {
      EXPECT_TRUE(answers.emplace(body.requester.request, body.reply).second) << "answered twice";
    } else if constexpr (std::is_same_v<Body, ReadRecord> || std::is_same_v<Body, ReadRange> ||
                         std::is_same_v<Body, ReadTransient>) {
      to.reads.emplace_back(std::move(body));
    } else if (on_client) {
      on_client(to, {from, to.id, body});
    }
  }

  void answer_read(Node& node, Message& message, MessageOutbox& outbox) {
    if (auto* read = std::get_if<ReadRecord>(&message)) {
      RecordRead result{read->ticket, {}, {}};
      const Result<Lookup> found = node.engine->get(Family::kData, read->place.storage_key, result.bytes);
      if (!found.ok()) result.status = found.status();
      node.replica->on(std::move(result), now, wall_now, outbox);
    } else if (auto* read = std::get_if<ReadRange>(&message)) {
      RangeRead result{read->ticket, {}, {}};
      if (slice_bytes_max != 0) read->step.bytes_max = slice_bytes_max;
      if (leaf_records_max != 0) read->step.leaf_records_max = leaf_records_max;
      Result<RangeSlice> slice = range_slice(*node.engine, read->step);
      if (slice.ok()) result.slice = std::move(*slice);
      result.status = slice.status();
      node.convergence->on(std::move(result), moment(), outbox);
    } else if (auto* read = std::get_if<ReadTransient>(&message)) {
      TransientRead result{read->ticket, {}, {}};
      Result<TransientSlice> slice = transient_slice(*node.engine, read->step);
      if (slice.ok()) result.slice = std::move(*slice);
      result.status = slice.status();
      node.convergence->on(std::move(result), moment(), outbox);
    }
  }

  const Settings settings_;

 public:
  size_t slice_bytes_max = 0;   // of a walk; 0: as asked
  size_t leaf_records_max = 0;  // of a leaf that is looked at as a whole; 0: as asked
};

}  // namespace ringkv
