// One random history of a small cluster, and what must be true of it whatever happens: letters reordered and
// lost or doubled, nodes killed and cut off from power, rings adopted late, views that are wrong, hints kept,
// refused and delivered, tombstones let go under floors.
//
// It knows every version from the moment it is stamped, so that each record on the network can be checked:
// nothing may be claimed as superseded that no writer has replaced.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/replication/cluster_fixture.h"
#include "tests/replication/floor_oracle.h"

namespace ringkv {

class QuorumExploration {
 public:
  struct Counts {
    size_t acknowledged = 0;
    size_t unknown = 0;
    size_t failed = 0;
    size_t confirmed_gets = 0;
    size_t unconfirmed_gets = 0;
    size_t failed_gets = 0;
    size_t retried = 0;
    size_t siblings_read = 0;
    size_t hinted = 0;  // puts that were acknowledged with the help of hints
    size_t hints_delivered = 0;
    size_t hints_cancelled = 0;
    size_t hints_refused = 0;
    size_t floors_raised = 0;
    size_t erased = 0;     // tombstones
    size_t not_found = 0;  // gets of keys that were written
  };

  struct Settings {
    uint64_t seed = 0;
    size_t nodes = 3;
    bool deletes = false;  // many, floors that are raised, and lives that rarely end
  };

  explicit QuorumExploration(const Settings& settings)
      : random_(settings.seed),
        cluster_(settings.nodes, 3, hint_budget(settings.seed)),
        copies_(static_cast<uint32_t>(std::min<size_t>(3, settings.nodes))) {
    cluster_.auto_commit = false;
    cluster_.sweeps = settings.deletes;
    keys_ = !settings.deletes || settings.seed % 2 == 0 ? std::vector<std::string>{"k0", "k1", "k2"}
                                                        : keys_of_one_partition();
    cluster_.observe = [this](const auto& letter) { observe(letter); };
    cluster_.on_answer = [this](const auto& answer) { on_answer(answer); };
    for (const auto& node : cluster_.nodes) {
      node->fixture.disk.set_blocking_share(0.2, settings.seed + node->id.value);
    }
    ring_ = &cluster_.ring();
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      this->step();
      floors_.look();
    }
    heal();
    check_end();
  }

  const Counts& counts() const { return counts_; }

 private:
  enum class Kind : uint8_t { kBlind, kContext, kReadFirst };
  struct Operation {
    ClientPut put;
    Kind kind = Kind::kBlind;
    std::optional<CausalContext> context;  // what it may replace
    uint64_t at = 0;
    Boot first_tried;
    std::optional<Dot> dot;  // once stamped
    int tries = 0;           // that have no answer yet
    bool acknowledged = false;
    bool hinted = false;   // with the help of hints: it may be missed until they have arrived
    bool w_known = false;  // so many owners have it, or are the intended nodes of hints
    bool failed = false;
    uint64_t acknowledged_at = 0;
    uint32_t w = 2;
  };
  struct Get {
    std::string key;
    uint64_t asked_at = 0;
    uint32_t r = 2;
  };
  struct Seen {
    uint64_t at = 0;
    std::set<Dot> shown;
    CausalContext context;
  };
  struct Stamped {
    uint64_t operation = 0;
    std::string key;
    Version version;
  };

  // None, room for one or two, plenty.
  static uint64_t hint_budget(uint64_t seed) {
    switch (seed % 4) {
      case 0:
        return 0;
      case 1:
        return 300;
      default:
        return ClusterFixture::kHintBudget;
    }
  }

  uint64_t random_node() { return 1 + random_.below(cluster_.nodes.size()); }
  bool is_up(uint64_t node) { return cluster_.node(node).up; }
  const std::string& random_key() { return keys_[random_.below(keys_.size())]; }
  static std::vector<std::string> keys_of_one_partition() {
    std::vector<std::string> keys;
    for (int i = 0; keys.size() < 3; ++i) {
      std::string key = "k" + std::to_string(i);
      if (StoreFixture::place(key).partition == 3) keys.push_back(std::move(key));
    }
    return keys;
  }
  Token token_of_key(const std::string& key) const { return StoreFixture::place(key).token; }

  // --- What may happen

  void step() {
    ++clock_;
    switch (random_.below(cluster_.sweeps ? 34 : 24)) {
      case 0:
      case 1:
        return ask_put();
      case 2:
      case 3:
        return ask_get();
      case 4:
        return retry();
      case 5:
        return misfortune();
      case 6:
        return cluster_.pass(std::chrono::milliseconds(random_.below(random_.one_in(5) ? 400 : 60)));
      case 7:
      case 8:
      case 9: {
        ClusterFixture::Node& node = cluster_.node(random_node());
        if (!cluster_.begin_commit(node)) cluster_.finish_commit(node);
        return;
      }
      case 10:
      case 11:
        cluster_.read_disk(cluster_.node(random_node()));
        return;
      case 24:
      case 25:
      case 26:
      case 27:
      case 28:
      case 29:
        return raise_floor();
      case 30:
      case 31:
      case 32:
      case 33:
        return erase();
      default:
        if (!cluster_.in_flight.empty()) cluster_.deliver(random_.below(cluster_.in_flight.size()));
    }
  }

  void raise_floor() {
    const uint64_t at = random_node();
    const uint64_t source = random_node();
    const std::string& key = random_key();
    if (!is_up(at) || !is_up(source) || !owns(at, key) || !owns(source, key)) return;
    if (at == source) {
      floors_.raise_by_own(at, key);
    } else {
      floors_.raise_by(source, at, key);
    }
  }
  // As the sweeper does when its time has come.
  void erase() {
    const uint64_t at = random_node();
    const Place place = StoreFixture::place(random_key());
    MessageOutbox outbox;
    if (!is_up(at)) return;
    cluster_.node(at).replica->on(EraseRecord{place, place.storage_key}, cluster_.now, cluster_.wall_now,
                                  outbox);
    cluster_.carry(cluster_.node(at), outbox);
  }
  bool owns(uint64_t node, const std::string& key) const {
    const auto owners = ring_->preference_list(StoreFixture::place(key).partition);
    return std::any_of(owners.begin(), owners.end(), [&](uint16_t owner) { return owner + 1U == node; });
  }

  void ask_put() {
    const uint64_t at = random_node();
    if (!is_up(at)) return;
    const uint64_t number = operations_.size() + 1;
    Operation operation;
    operation.at = at;
    operation.put.key = random_key();
    operation.put.value = "v" + std::to_string(number);
    operation.put.operation = {1, number};
    operation.w = 1 + static_cast<uint32_t>(random_.below(copies_));
    operation.put.w = operation.w;
    operation.put.primary = random_.one_in(4);
    operation.first_tried = cluster_.node(at).fixture.store->actor().boot;
    const std::vector<std::string>& contexts = contexts_[operation.put.key];
    const std::string context = contexts.empty() ? "" : contexts[random_.below(contexts.size())];
    switch (cluster_.sweeps && random_.one_in(2) ? 0 : random_.below(5)) {
      case 0:
        operation.put.tombstone = true;
        operation.put.value.clear();
        operation.kind = Kind::kReadFirst;
        break;
      case 1:
        operation.put.read_first = true;
        operation.kind = Kind::kReadFirst;
        break;
      case 2:
        operation.put.seen = context;
        break;
      default:
        operation.put.context = context;
        operation.kind = Kind::kContext;
        operation.context = CausalContext();
        if (!context.empty()) {
          operation.context = *decode_client_context(context, token_of_key(operation.put.key));
        }
    }
    operation.tries = 1;
    operations_.push_back(operation);
    operation_of_[cluster_.last_request + 1] = number;
    cluster_.ask(at, operation.put, std::chrono::milliseconds(200 + random_.below(2000)));
  }

  // Through another node as often as through the same.
  void retry() {
    if (operations_.empty()) return;
    const uint64_t number = 1 + random_.below(operations_.size());
    const Operation operation = operations_[number - 1];
    const uint64_t at = random_.one_in(2) ? operation.at : random_node();
    if (!is_up(at) || operation.failed) return;
    ++counts_.retried;
    ++operations_[number - 1].tries;
    ClientPut put = operation.put;
    put.first_tried = operation.first_tried;
    retries_.insert(cluster_.last_request + 1);
    operation_of_[cluster_.last_request + 1] = number;
    cluster_.ask(at, put, std::chrono::seconds(1));
  }

  void ask_get() {
    const uint64_t at = random_node();
    if (!is_up(at)) return;
    Get get{random_key(), clock_, 1 + static_cast<uint32_t>(random_.below(copies_))};
    get_of_[cluster_.last_request + 1] = get;
    cluster_.ask(at, ClientGet{.key = get.key, .r = get.r}, std::chrono::milliseconds(500));
  }

  void misfortune() {
    const uint64_t node = random_node();
    // Of a life that has ended with a lost tail no floor reaches what it had sent out.
    const uint64_t mildest = cluster_.sweeps && !random_.one_in(8) ? 2 : 0;
    switch (mildest + random_.below(9 - mildest)) {
      case 0:
        if (is_up(node)) {
          count_hints(node);
          cluster_.kill(node);
        } else {
          restart(node);
        }
        return;
      case 1:
        if (!is_up(node)) restart(node);
        return;
      case 2:
        return see_something(node);
      case 3:
      case 4:  // a connection is lost with what is on its way, and comes back
        return lose_connection(node, random_node());
      case 5:  // lost for good
        if (!cluster_.in_flight.empty()) {
          cluster_.in_flight.erase(cluster_.in_flight.begin() +
                                   static_cast<ptrdiff_t>(random_.below(cluster_.in_flight.size())));
        }
        return;
      case 6:  // comes twice
        if (!cluster_.in_flight.empty()) {
          const ClusterFixture::Letter& letter = cluster_.in_flight[random_.below(cluster_.in_flight.size())];
          if (is_harmless_twice(letter.message)) cluster_.in_flight.push_back(letter);
        }
        return;
      case 7:
        if (random_.one_in(4)) ring_ = &cluster_.next_ring([](RingDescription&) {});
        return;
      default:
        if (is_up(node) && cluster_.node(node).ring != ring_) cluster_.adopt(node, *ring_);
    }
  }

  void lose_connection(uint64_t a, uint64_t b) {
    std::erase_if(cluster_.in_flight, [&](const auto& letter) {
      return (letter.from.value == a && letter.to.value == b) ||
             (letter.from.value == b && letter.to.value == a);
    });
    if (a == b) return;
    if (is_up(a)) cluster_.restore_link(a, b);
    if (is_up(b)) cluster_.restore_link(b, a);
  }

  // What is sent again when a connection is restored.
  static bool is_harmless_twice(const Message& message) {
    return std::holds_alternative<ReplicaPut>(message) || std::holds_alternative<ReplicaPutAck>(message) ||
           std::holds_alternative<HintPut>(message) || std::holds_alternative<HintCovered>(message);
  }

  void count_hints(uint64_t node) {
    const ConvergenceStatistics& statistics = cluster_.node(node).environment->statistics;
    counts_.hints_delivered += statistics.hints_delivered;
    counts_.hints_cancelled += statistics.hints_cancelled;
    counts_.hints_refused += statistics.hints_refused;
  }

  // kill -9, or a power cut: what was acknowledged is synced.
  void restart(uint64_t number) {
    ClusterFixture::Node& node = cluster_.node(number);
    if (random_.one_in(2)) {
      cluster_.close(number);
      node.fixture.disk.crash(random_);
    }
    cluster_.start(number);
  }

  void see_something(uint64_t viewer) {
    std::set<uint64_t> unreachable;
    for (const auto& node : cluster_.nodes) {
      if (node->id.value != viewer && random_.one_in(5)) unreachable.insert(node->id.value);
    }
    cluster_.see_unreachable(viewer, unreachable);
  }

  // --- What is seen on the way

  void observe(const ClusterFixture::Letter& letter) {
    if (const auto* stamped = std::get_if<PutStamped>(&letter.message)) {
      on_stamped(letter.from, *decode_record(*stamped->record));
    } else if (const auto* put = std::get_if<ReplicaPut>(&letter.message)) {
      check_record(put->key, *decode_record(*put->record));
    } else if (const auto* hint = std::get_if<HintPut>(&letter.message)) {
      EXPECT_NE(hint->intended, letter.to);
      check_record(hint->key, *decode_record(*hint->record));
    } else if (const auto* reply = std::get_if<ReplicaGetReply>(&letter.message)) {
      if (reply->status.ok() && !reply->digest) check_versions(reply->record);
    }
  }

  void on_stamped(NodeId by, const Record& record) {
    const Actor actor = cluster_.node(by.value).fixture.store->actor();
    const Dot dot{actor, record.context.vector.counter_of(actor)};
    const auto version = std::find_if(record.versions.begin(), record.versions.end(),
                                      [&](const Version& version) { return version.dot == dot; });
    ASSERT_NE(version, record.versions.end());
    ASSERT_FALSE(stamped_.contains(dot)) << "I4: a dot names two events";
    Operation& operation = operations_.at(version->operation.sequence - 1);
    EXPECT_FALSE(operation.dot) << "I5: " << operation.put.value << " is applied twice";
    EXPECT_FALSE(operation.failed) << "I5: " << operation.put.value << " had failed";
    operation.dot = dot;
    const std::string& key = operation.put.key;
    for (const auto& [other, event] : stamped_) {
      if (event.key != key || !record.context.covers(other) || holds(record, other)) continue;
      floors_.look();
      const bool allowed = operation.kind != Kind::kContext || operation.context->covers(other) ||
                           has_gone(other) ||
                           is_superseded_in(floors_.with_erased(record.context, key), other);
      EXPECT_TRUE(allowed) << "I3: " << operation.put.value << " replaces " << event.version.value
                           << ", which its writer has not seen";
      superseders_[other].insert(dot);
    }
    stamped_[dot] = {version->operation.sequence, key, *version};
    floors_.on_stamped(dot, key, version->time);
  }

  // Somebody whose write is part of what the context has seen has replaced it.
  bool is_superseded_in(const CausalContext& seen, const Dot& dot) const {
    const auto superseders = superseders_.find(dot);
    return superseders != superseders_.end() &&
           std::any_of(superseders->second.begin(), superseders->second.end(),
                       [&](const Dot& other) { return seen.covers(other); });
  }

  // A tombstone that went under somebody's floor.
  bool has_gone(const Dot& dot) const {
    const Stamped& event = stamped_.at(dot);
    return event.version.kind == VersionKind::kTombstone && floors_.with_erased({}, event.key).covers(dot);
  }

  static bool holds(const Record& record, const Dot& dot) {
    return std::any_of(record.versions.begin(), record.versions.end(),
                       [&](const Version& version) { return version.dot == dot; });
  }

  void check_versions(const Record& record) {
    for (const Version& version : record.versions) {
      const auto event = stamped_.find(version.dot);
      ASSERT_NE(event, stamped_.end());
      EXPECT_EQ(version.value, event->second.version.value) << "I6";
      EXPECT_FALSE(operations_[event->second.operation - 1].failed) << "I5: of " << version.value;
    }
  }

  void check_record(const std::string& key, const Record& record) {
    check_versions(record);
    floors_.look();
    const CausalContext known = floors_.with_erased(record.context, key);
    for (const auto& [dot, event] : stamped_) {
      if (event.key != key || !record.context.covers(dot) || holds(record, dot)) continue;
      EXPECT_TRUE(has_gone(dot) || is_superseded_in(known, dot))
          << "I3: " << event.version.value << " is dropped by nobody";
    }
  }

  // --- What clients hear
  void on_answer(const ClientAnswer& answer);
  void on_put_answer(Operation& operation, const ClientReply& reply, bool may_be_repeated);
  void count_acknowledgements(Operation& operation, const PutReceipt& receipt, bool may_be_repeated);
  void on_get_answer(const Get& get, const ClientReply& reply);
  void check_acknowledged(const Get& get, const Seen& seen);
  bool must_be_seen(const Operation& operation, const Get& get) const;
  void check_not_deleted(const Get& get, const Seen& seen);
  std::map<Dot, std::string> shown_keys(const Seen& seen) const;
  void check_no_way_back(const Seen& earlier, const Seen& later);
  // --- The end
  void heal();
  void check_hints_arrived();
  void check_end();
  void check_stored(const std::string& key);

  SeededRandom random_;
  ClusterFixture cluster_;
  FloorOracle floors_{cluster_};
  std::vector<std::string> keys_;
  const uint32_t copies_;  // of a key
  const Ring* ring_ = nullptr;
  uint64_t clock_ = 0;
  bool healed_ = false;
  Counts counts_;

  std::vector<Operation> operations_;
  std::map<uint64_t, uint64_t> operation_of_;  // by request
  std::set<uint64_t> retries_;                 // requests
  std::map<uint64_t, Get> get_of_;             // by request
  std::set<uint64_t> answered_;
  std::map<std::string, std::vector<std::string>> contexts_;
  std::map<std::string, std::vector<Seen>> confirmed_;
  std::map<Dot, Stamped> stamped_;
  std::map<Dot, std::set<Dot>> superseders_;
};

}  // namespace ringkv

#include "tests/replication/quorum_exploration_checks.h"
