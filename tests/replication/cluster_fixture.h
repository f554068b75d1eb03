// Several nodes' coordinators, replicas, hints and stores over a network that the test holds in its hands:
// messages lie in `in_flight` until they are delivered, in order or not, held back, or lost; commits and
// reads of the disk happen when the test says so, or by themselves in run().
//
// Node i (1, 2, ...) is named n1, n2, ... Partition p belongs to node p % nodes + 1, and its list goes on
// with the nodes that follow.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replication/sweeper.h"
#include "tests/replication/disk_reads.h"
#include "tests/replication/dispatch.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {

class ClusterFixture {
 public:
  struct Letter {
    NodeId from;
    NodeId to;
    uint64_t epoch = 0;
    Message message;
  };
  struct Node {
    explicit Node(NodeId id) : id(id), fixture(id) {}

    NodeId id;
    StoreFixture fixture;
    Wholeness wholeness{kTestPartitions};
    std::unique_ptr<HintStore> hints;
    std::unique_ptr<ConvergenceEnvironment> environment;
    std::unique_ptr<HintKeeper> keeper;
    std::unique_ptr<HintDelivery> delivery;
    std::unique_ptr<Sweeper> sweeper;
    std::unique_ptr<Replica> replica;
    std::unique_ptr<Coordinator> coordinator;
    const Ring* ring = nullptr;
    std::vector<std::pair<BatchNumber, Letter>> waiting;  // for their batch
    std::optional<Commit> commit;                         // under way
    std::vector<ReadRecord> reads;
    std::vector<ReadSlice> slices;
    std::vector<ReadHint> hint_reads;
    std::vector<ReadHints> hint_slices;
    std::vector<ReadTransient> transient_reads;
    bool up = true;
  };
  static constexpr uint64_t kHintBudget = uint64_t{1} << 20;

  explicit ClusterFixture(size_t count, uint32_t replicas = 3, uint64_t hint_budget_bytes = kHintBudget,
                          TokenFunction token = &token_of)
      : placement_{.partitions = kTestPartitions, .token = token}, hint_budget_bytes_(hint_budget_bytes) {
    rings.push_back(std::make_unique<Ring>(description(count, replicas)));
    for (size_t i = 0; i < count; ++i) {
      nodes.push_back(std::make_unique<Node>(NodeId{i + 1}));
      nodes.back()->ring = rings.front().get();
      start(*nodes.back());
    }
  }

  static RingDescription description(size_t count, uint32_t replicas) {
    RingDescription ring;
    ring.replicas = replicas;
    for (size_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(i + 1);
      ring.members.push_back(
          {.node = NodeId{i + 1}, .disk = DiskId{i + 1}, .name = "n" + number, .rack = "r" + number});
    }
    for (uint32_t partition = 0; partition < kTestPartitions; ++partition) {
      ring.owners.push_back(static_cast<uint16_t>(partition % count));
    }
    ring.buckets = {BucketDescription(), {.name = "lww", .conflict = BucketConflict::kLastWriterWins}};
    ring.secret = std::string(32, 's');
    return ring;
  }

  Node& node(uint64_t number) { return *nodes.at(number - 1); }
  Ring& ring() { return *rings.front(); }

  Place place(const std::string& key, const std::string& bucket = "") const {
    return place_of(placement_, bucket, key);
  }

  // A key whose first owner is this node (so that with three nodes all own it).
  std::string key_of(uint64_t first_owner, const std::string& stem = "k") {
    for (int i = 0;; ++i) {
      std::string key = stem + std::to_string(i);
      if (place(key).partition % nodes.size() + 1 == first_owner) return key;
    }
  }

  // --- Clients

  template <class Request>
  uint64_t ask(uint64_t at, Request body, Duration timeout = std::chrono::seconds(5)) {
    MessageOutbox outbox;
    node(at).coordinator->on(
        Arrival{
            .requester = {1, ++last_request}, .deadline = now + timeout, .now = now, .wall_now = wall_now},
        std::move(body), outbox);
    const uint64_t request = last_request;
    carry(node(at), outbox);
    return request;
  }

  // One turn of a node's sweeper, asked for by an operator.
  uint64_t purge(uint64_t at, Duration timeout = std::chrono::seconds(60)) {
    MessageOutbox outbox;
    node(at).sweeper->on(
        Arrival{
            .requester = {1, ++last_request}, .deadline = now + timeout, .now = now, .wall_now = wall_now},
        ClientPurge(), outbox);
    carry(node(at), outbox);
    return last_request;
  }

  // The answer to a request, or nullptr.
  const ClientReply* answer(uint64_t request) const {
    const auto at = answers.find(request);
    return at == answers.end() ? nullptr : &at->second;
  }
  StatusCode code(uint64_t request) const {
    const ClientReply* reply = answer(request);
    EXPECT_NE(reply, nullptr) << "no answer";
    return reply == nullptr ? StatusCode::kOk : reply->status.code();
  }
  std::string message(uint64_t request) const {
    const ClientReply* reply = answer(request);
    return reply == nullptr ? "" : reply->status.message();
  }

  ClientReply put(uint64_t at, ClientPut put) {
    const uint64_t request = ask(at, std::move(put));
    run();
    return *answer(request);
  }
  GetResult get(uint64_t at, const std::string& key, uint32_t r = 0, const std::string& bucket = "") {
    const uint64_t request = ask(at, ClientGet{.bucket = bucket, .key = key, .r = r});
    run();
    const ClientReply* reply = answer(request);
    EXPECT_TRUE(reply != nullptr && reply->status.ok()) << message(request);
    if (reply == nullptr || !reply->status.ok()) return {};
    return std::get<GetResult>(reply->body);
  }

  // --- What happens

  // Delivers, reads and commits until nothing is left to do; letters held back stay.
  void run() {
    for (bool busy = true; busy;) {
      busy = deliver_all();
      for (const auto& node : nodes) {
        busy = read_disk(*node) || busy;
        busy = (auto_commit && commit(*node)) || busy;
      }
    }
  }

  bool deliver_all() {
    bool some = false;
    for (size_t i = 0; i < in_flight.size();) {
      if (hold && hold(in_flight[i])) {
        ++i;
        continue;
      }
      some = deliver(i) || some;
      i = 0;
    }
    return some;
  }

  // False: the letter waits, for a ring that its receiver has yet to adopt.
  bool deliver(size_t index) {
    const Letter& letter = in_flight[index];
    Node& to = node(letter.to.value);
    if (to.up && letter.epoch > to.ring->epoch() && is_question(letter.message)) return false;
    Letter delivered = std::move(in_flight[index]);
    in_flight.erase(in_flight.begin() + static_cast<ptrdiff_t>(index));
    if (!to.up) return true;
    MessageOutbox outbox;
    if (delivered.epoch < to.ring->epoch() && is_question(delivered.message)) {
      refuse_as_stale(delivered, to, outbox);
    } else {
      dispatch_to(to, delivered.from, delivered.message, outbox);
    }
    carry(to, outbox);
    return true;
  }

  bool read_disk(Node& node) {
    if (!node.up) return false;
    const Moment moment{now, wall_now};
    bool some = read_disk(node, node.reads, [&](RecordRead read, MessageOutbox& outbox) {
      node.replica->on(std::move(read), now, wall_now, outbox);
    });
    some |= read_disk(node, node.slices, [&](SliceRead read, MessageOutbox& outbox) {
      node.replica->on(std::move(read), outbox);
    });
    some |= read_disk(node, node.hint_reads,
                      [&](HintRead read, MessageOutbox& outbox) { node.keeper->on(read, moment, outbox); });
    some |= read_disk(node, node.hint_slices, [&](HintsRead read, MessageOutbox& outbox) {
      node.delivery->on(read, moment, outbox);
    });
    some |= read_disk(node, node.transient_reads, [&](TransientRead read, MessageOutbox& outbox) {
      node.sweeper->on(read, moment, outbox);
    });
    return some;
  }
  template <class Read, class Then>
  bool read_disk(Node& node, std::vector<Read>& asked, Then then) {
    const std::vector<Read> reads = std::exchange(asked, {});
    for (const Read& read : reads) {
      MessageOutbox outbox;
      then(read_from(*node.fixture.engine, read), outbox);
      carry(node, outbox);
    }
    return !reads.empty();
  }

  bool commit(Node& node) { return begin_commit(node) | finish_commit(node); }
  bool begin_commit(Node& node) {
    if (!node.up || node.commit || !node.fixture.store->has_staged()) return false;
    node.commit = node.fixture.store->take();
    commits += 1;
    return true;
  }
  bool finish_commit(Node& node) {
    if (!node.up || !node.commit) return false;
    const Commit commit = *std::exchange(node.commit, std::nullopt);
    EXPECT_TRUE(node.fixture.engine->write(*commit.batch, commit.sync).ok());
    node.fixture.store->committed(commit);
    node.hints->committed(commit.number);
    for (auto& [batch, letter] : std::exchange(node.waiting, {})) {
      if (batch > commit.number) {
        node.waiting.emplace_back(batch, std::move(letter));
      } else {
        send(node, std::move(letter));
      }
    }
    MessageOutbox outbox;
    node.replica->on_committed(commit.number, now, wall_now, outbox);
    carry(node, outbox);
    return true;
  }

  // Time passes for all nodes.
  void pass(Duration time) {
    now += time;
    wall_now += static_cast<uint64_t>(time.count());
    for (const auto& node : nodes) {
      if (!node->up) continue;
      MessageOutbox outbox;
      node->coordinator->tick(now, wall_now, outbox);
      node->delivery->tick({now, wall_now}, outbox);
      if (sweeps) node->sweeper->tick({now, wall_now}, outbox);
      carry(*node, outbox);
    }
  }

  // --- What goes wrong

  // kill -9: what it held in memory is gone, letters to it are lost.
  void kill(uint64_t number) {
    Node& node = this->node(number);
    node.up = false;
    node.waiting.clear();
    node.commit.reset();
    node.reads.clear();
    node.slices.clear();
    node.hint_reads.clear();
    node.hint_slices.clear();
    node.transient_reads.clear();
    std::erase_if(in_flight, [&](const Letter& letter) { return letter.to == node.id; });
  }
  void start(uint64_t number) {
    forget_life(node(number));
    node(number).fixture.kill();
    start(node(number));
  }
  // A killed node's disk may be changed now.
  void close(uint64_t number) {
    forget_life(node(number));
    node(number).fixture.close();
  }

  // What all the others see.
  void see_unreachable(const std::set<uint64_t>& unreachable) {
    for (const auto& node : nodes) see_unreachable(node->id.value, unreachable);
  }
  void see_unreachable(uint64_t viewer, const std::set<uint64_t>& unreachable) {
    if (!node(viewer).up) return;
    ClusterView view;
    for (const uint64_t number : unreachable) view.unreachable.push_back(NodeId{number});
    MessageOutbox outbox;
    Node& by = node(viewer);
    const RingView before = by.environment->view;
    by.environment->view.set_view(view);
    by.coordinator->set_view(std::move(view), now, wall_now, outbox);
    for (const auto& other : nodes) {
      const bool returns = by.environment->view.is_reachable(other->id) && !before.is_reachable(other->id);
      if (returns) by.delivery->restart(other->id, {now, wall_now}, outbox);
    }
    carry(by, outbox);
  }
  void restore_link(uint64_t viewer, uint64_t to) {
    MessageOutbox outbox;
    node(viewer).coordinator->on_link_restored(NodeId{to}, outbox);
    node(viewer).delivery->restart(NodeId{to}, {now, wall_now}, outbox);
    carry(node(viewer), outbox);
  }

  // The ring of the next epoch; nodes adopt it one by one.
  const Ring& next_ring(const std::function<void(RingDescription&)>& change) {
    RingDescription next = rings.back()->description();
    next.epoch += 1;
    change(next);
    rings.push_back(std::make_unique<Ring>(std::move(next)));
    return *rings.back();
  }
  void adopt(uint64_t number, const Ring& ring) {
    Node& node = this->node(number);
    node.ring = &ring;
    MessageOutbox outbox;
    node.environment->view.set_ring(ring);
    node.replica->set_ring(ring, outbox);
    node.coordinator->set_ring(ring, now, wall_now, outbox);
    carry(node, outbox);
  }

  void carry(Node& from, MessageOutbox& outbox) {
    for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
      Letter letter{from.id, envelope.to, from.ring->epoch(), std::move(envelope.message)};
      if (observe) observe(letter);
      if (envelope.after_records) {
        from.waiting.emplace_back(from.fixture.store->open_batch(), std::move(letter));
      } else {
        send(from, std::move(letter));
      }
    }
  }

  // --- What is there

  Record stored(uint64_t number, const std::string& key, const std::string& bucket = "") {
    std::string bytes;
    const Result<Lookup> found =
        node(number).fixture.engine->get(Family::kData, place(key, bucket).storage_key, bytes);
    if (!found.ok() || *found == Lookup::kAbsent) return {};
    return *decode_record(bytes);
  }
  std::vector<std::string> values(uint64_t number, const std::string& key, const std::string& bucket = "") {
    return live_values(stored(number, key, bucket), 0);
  }

  // Of hints that the node keeps, for all or for one.
  uint64_t hints_at(uint64_t number) { return node(number).hints->total().hints; }
  uint64_t hints_at(uint64_t number, uint64_t intended) {
    const HintCounts& counts = node(number).hints->counts();
    const auto count = counts.find(NodeId{intended});
    return count == counts.end() ? 0 : count->second.hints;
  }
  uint64_t hints_everywhere() {
    uint64_t hints = 0;
    for (const auto& node : nodes) hints += hints_at(node->id.value);
    return hints;
  }

  // Puts a record that another node has into this node's store only.
  void copy_record(uint64_t from, uint64_t to, const std::string& key, const std::string& bucket = "") {
    const Record record = stored(from, key, bucket);
    const Place place = this->place(key, bucket);
    RecordStore& store = *node(to).fixture.store;
    const RecordHead before = **store.newest_head(place);
    store.stage(place, store.encoded(place, key, record), before);
    commit(node(to));
  }

  template <class Body>
  size_t count_in_flight() const {
    size_t count = 0;
    for (const Letter& letter : in_flight) count += std::holds_alternative<Body>(letter.message) ? 1 : 0;
    return count;
  }

  std::vector<std::unique_ptr<Ring>> rings;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Letter> in_flight;
  std::function<bool(const Letter&)> hold;     // true: it stays in flight
  std::function<void(const Letter&)> observe;  // every letter when it is written, to oneself too
  std::function<void(const ClientAnswer&)> on_answer;
  std::map<uint64_t, ClientReply> answers;
  size_t answered_twice = 0;
  size_t commits = 0;
  bool auto_commit = true;
  bool sweeps = false;  // as time passes
  Time now{std::chrono::hours(1)};
  WallMicros wall_now = 1'000'000'000;
  uint64_t last_request = 0;

 private:
  void start(Node& node) {
    node.up = true;
    const Boot boot = node.fixture.store->actor().boot;
    node.hints = std::make_unique<HintStore>(*node.fixture.engine, *node.fixture.store,
                                             *recover_hints(*node.fixture.engine));
    node.environment = std::make_unique<ConvergenceEnvironment>(
        ConvergenceSettings{.self = node.id,
                            .boot = boot,
                            .hint_budget_bytes = hint_budget_bytes_,
                            .token = placement_.token},
        *node.ring, *node.fixture.store, *node.hints, node.wholeness);
    node.keeper = std::make_unique<HintKeeper>(*node.environment);
    node.delivery = std::make_unique<HintDelivery>(*node.environment);
    node.sweeper = std::make_unique<Sweeper>(*node.environment);
    node.replica = std::make_unique<Replica>(Replica::Settings{.self = node.id, .placement = placement_},
                                             *node.ring, *node.fixture.store, *node.hints, node.wholeness);
    node.coordinator = std::make_unique<Coordinator>(
        Coordinator::Settings{
            .self = node.id, .boot = boot, .hints = hint_budget_bytes_ > 0, .token = placement_.token},
        *node.ring);
  }

  void forget_life(Node& node) {
    node.coordinator.reset();
    node.replica.reset();
    node.sweeper.reset();
    node.delivery.reset();
    node.keeper.reset();
    node.environment.reset();
    node.hints.reset();
  }

  bool dispatch_to(Node& node, NodeId from, Message& message, MessageOutbox& outbox) {
    const Moment moment{now, wall_now};
    return dispatch(from, message, moment, *node.keeper, *node.delivery, outbox) ||
           dispatch(from, message, moment, *node.replica, *node.coordinator, outbox);
  }

  static bool is_question(const Message& message) {
    if (const auto* put = std::get_if<ReplicaPut>(&message)) return put->source != Source::kHint;
    return std::holds_alternative<ReplicaGet>(message) || std::holds_alternative<ReplicaScan>(message) ||
           std::holds_alternative<ForwardedRequest>(message);
  }

  void refuse_as_stale(const Letter& letter, const Node& by, MessageOutbox& outbox) {
    const Status stale(StatusCode::kStaleEpoch, "a newer ring");
    if (const auto* body = std::get_if<ReplicaPut>(&letter.message)) {
      outbox.send(letter.from, ReplicaPutAck{body->request, by.id, stale});
    } else if (const auto* body = std::get_if<ReplicaGet>(&letter.message)) {
      ReplicaGetReply reply{.request = body->request, .replica = by.id};
      reply.status = stale;
      outbox.send(letter.from, std::move(reply));
    } else if (const auto* body = std::get_if<ReplicaScan>(&letter.message)) {
      ReplicaScanReply reply{.request = body->request, .replica = by.id};
      reply.status = stale;
      outbox.send(letter.from, std::move(reply));
    } else if (const auto* body = std::get_if<ForwardedRequest>(&letter.message)) {
      ForwardedReply reply{body->request, refusal(stale)};
      reply.reply.epoch = by.ring->epoch();
      outbox.send(letter.from, std::move(reply));
    }
  }

  // What a node says to itself arrives at once.
  void send(Node& from, Letter letter) {
    if (letter.to != from.id) {
      in_flight.push_back(std::move(letter));
      return;
    }
    MessageOutbox outbox;
    if (dispatch_to(from, from.id, letter.message, outbox)) return carry(from, outbox);
    if (auto* answer = std::get_if<ClientAnswer>(&letter.message)) {
      answered_twice += answers.contains(answer->requester.request) ? 1 : 0;
      if (on_answer) on_answer(*answer);
      answers[answer->requester.request] = std::move(answer->reply);
    }
    if (auto* read = std::get_if<ReadRecord>(&letter.message)) from.reads.push_back(std::move(*read));
    if (auto* read = std::get_if<ReadSlice>(&letter.message)) from.slices.push_back(std::move(*read));
    if (auto* read = std::get_if<ReadHint>(&letter.message)) from.hint_reads.push_back(std::move(*read));
    if (auto* read = std::get_if<ReadHints>(&letter.message)) from.hint_slices.push_back(std::move(*read));
    if (auto* read = std::get_if<ReadTransient>(&letter.message))
      from.transient_reads.push_back(std::move(*read));
  }

  const Placement placement_;
  const uint64_t hint_budget_bytes_;  // for each node; 0: no hints are kept
};

}  // namespace ringkv
