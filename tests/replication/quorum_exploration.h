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

  void on_answer(const ClientAnswer& answer) {
    const uint64_t request = answer.requester.request;
    EXPECT_TRUE(answered_.insert(request).second) << "answered twice";
    if (const auto operation = operation_of_.find(request); operation != operation_of_.end()) {
      Operation& put = operations_.at(operation->second - 1);
      // Forwarded ones are repeated when a connection is restored.
      const bool may_be_repeated = retries_.contains(request) || !owns(put.at, put.put.key);
      on_put_answer(put, answer.reply, may_be_repeated);
    } else if (const auto get = get_of_.find(request); get != get_of_.end()) {
      on_get_answer(get->second, answer.reply);
    }
  }

  void on_put_answer(Operation& operation, const ClientReply& reply, bool may_be_repeated) {
    --operation.tries;
    if (reply.status.ok()) {
      ++counts_.acknowledged;
      EXPECT_TRUE(operation.dot) << "I5: acknowledged and never stamped";
      if (!operation.acknowledged) {
        operation.acknowledged_at = clock_;
        count_acknowledgements(operation, std::get<PutReceipt>(reply.body), may_be_repeated);
      }
      operation.acknowledged = true;
      if (!reply.seen.empty()) contexts_[operation.put.key].push_back(reply.seen);
    } else if (reply.status.code() == StatusCode::kUnknownOutcome) {
      ++counts_.unknown;
    } else {
      ++counts_.failed;
      operation.failed = operation.tries == 0;  // another may yet succeed
      EXPECT_FALSE(operation.dot) << "I5: " << operation.put.value
                                  << " was written: " << reply.status.to_string();
    }
  }

  // What comes again may be told by the record alone that it was applied, whose receipt names nobody, or from
  // memory, which keeps the owners.
  void count_acknowledgements(Operation& operation, const PutReceipt& receipt, bool may_be_repeated) {
    std::set<std::string> owners;
    std::set<std::string> slots;
    for (const Acknowledgement& ack : receipt.acks) {
      const bool is_hint = ack.kind == Acknowledgement::Kind::kHint;
      EXPECT_TRUE(is_hint || owners.insert(ack.node).second) << ack.node << " is named twice";
      slots.insert(is_hint ? ack.hint_for : ack.node);
    }
    if (receipt.acks.empty()) return;
    operation.hinted = owners.size() < operation.w;
    operation.w_known = slots.size() >= operation.w;
    counts_.hinted += operation.hinted ? 1 : 0;
    EXPECT_TRUE(operation.w_known || may_be_repeated) << "acknowledged by too few";
    EXPECT_FALSE(operation.hinted && operation.put.primary) << "only owners acknowledge it";
  }

  void on_get_answer(const Get& get, const ClientReply& reply) {
    if (!reply.status.ok()) {
      ++counts_.failed_gets;
      return;
    }
    const auto& result = std::get<GetResult>(reply.body);
    contexts_[get.key].push_back(result.context.bytes());
    Seen seen{clock_, {}, *decode_client_context(result.context.bytes(), token_of_key(get.key))};
    for (const std::string& value : result.values) {
      const Operation& operation = operations_.at(std::stoul(value.substr(1)) - 1);
      ASSERT_TRUE(operation.dot && operation.put.key == get.key) << "I6: " << value;
      seen.shown.insert(*operation.dot);
    }
    counts_.siblings_read += seen.shown.size() > 1 ? 1 : 0;
    counts_.not_found += seen.shown.empty() && !seen.context.vector.empty() ? 1 : 0;
    floors_.look();
    check_acknowledged(get, seen);
    check_not_deleted(get, seen);
    for (const Seen& earlier : confirmed_[get.key]) {
      if (get.r >= majority_of(copies_) && earlier.at < get.asked_at) check_no_way_back(earlier, seen);
    }
    (result.unconfirmed ? counts_.unconfirmed_gets : counts_.confirmed_gets) += 1;
    if (!result.unconfirmed) confirmed_[get.key].push_back(std::move(seen));
  }

  // I1, at once where R + W > N and no hint was used.
  void check_acknowledged(const Get& get, const Seen& seen) {
    const CausalContext known = floors_.with_erased(seen.context, get.key);
    for (const Operation& operation : operations_) {
      if (!operation.acknowledged || operation.put.key != get.key) continue;
      if (!must_be_seen(operation, get)) continue;
      EXPECT_TRUE(known.covers(*operation.dot)) << "I1: " << operation.put.value << " is missed";
      const bool is_there = seen.shown.contains(*operation.dot) || operation.put.tombstone;
      EXPECT_TRUE(is_there || is_superseded_in(known, *operation.dot)) << "I1: " << operation.put.value;
    }
  }
  bool must_be_seen(const Operation& operation, const Get& get) const {
    if (operation.hinted && !healed_) return false;
    return operation.acknowledged_at < get.asked_at && operation.w + get.r > copies_;
  }

  // I2, at once: what such a write has replaced isn't shown.
  void check_not_deleted(const Get& get, const Seen& seen) {
    for (const Dot& dot : seen.shown) {
      for (const Dot& by : superseders_[dot]) {
        const Operation& operation = operations_.at(stamped_.at(by).operation - 1);
        EXPECT_FALSE(operation.acknowledged && must_be_seen(operation, get))
            << "I2: " << stamped_.at(dot).version.value << " came back";
      }
    }
  }

  std::map<Dot, std::string> shown_keys(const Seen& seen) const {
    std::map<Dot, std::string> keys;
    for (const Dot& dot : seen.shown) keys[dot] = stamped_.at(dot).key;
    return keys;
  }

  // A confirmed answer is in every later quorum's.
  void check_no_way_back(const Seen& earlier, const Seen& later) {
    for (const auto& [dot, key] : shown_keys(earlier))
      EXPECT_TRUE(floors_.with_erased(later.context, key).covers(dot)) << "went back in time";
    for (const Dot& dot : later.shown) {
      EXPECT_TRUE(earlier.shown.contains(dot) || !earlier.context.covers(dot)) << "came back";
    }
  }

  // --- The end

  void heal() {
    for (const auto& node : cluster_.nodes) {
      if (!node->up) restart(node->id.value);
      node->fixture.disk.set_blocking_share(0, 1);
    }
    for (const auto& node : cluster_.nodes) {
      if (node->ring != ring_) cluster_.adopt(node->id.value, *ring_);
    }
    cluster_.see_unreachable({});
    cluster_.auto_commit = true;
    for (int i = 0; i < 100; ++i) {
      cluster_.run();
      cluster_.pass(std::chrono::milliseconds(100));
    }
    cluster_.run();
    healed_ = true;
    for (const auto& node : cluster_.nodes) {
      count_hints(node->id.value);
      EXPECT_EQ(node->hints->counts(), HintCounts()) << "L2: hints drain";
      EXPECT_EQ(node->keeper->waiting(), 0U) << "I13";
      EXPECT_EQ(node->delivery->under_way(), 0U) << "I13";
      EXPECT_EQ(node->coordinator->under_way(), 0U) << "I13";
      EXPECT_EQ(node->replica->waiting(), 0U) << "I13";
      EXPECT_EQ(node->replica->latched_bytes(), 0U) << "I13";
    }
  }

  // Each write that was acknowledged by W, of them or of those who kept hints for them, is with W owners.
  void check_hints_arrived() {
    floors_.look();
    for (const Operation& operation : operations_) {
      if (!operation.acknowledged || !operation.w_known) continue;
      size_t holders = 0;
      for (const uint16_t position :
           ring_->preference_list(StoreFixture::place(operation.put.key).partition)) {
        const std::string& key = operation.put.key;
        const Record copy = cluster_.stored(position + 1U, key);
        const bool has_it = holds(copy, *operation.dot) || operation.put.tombstone ||
                            is_superseded_in(floors_.with_erased(copy.context, key), *operation.dot);
        holders += floors_.knows(position + 1U, key, *operation.dot) && has_it ? 1 : 0;
      }
      EXPECT_GE(holders, operation.w) << "L2: " << operation.put.value << " never arrived";
    }
  }

  void check_end() {
    check_hints_arrived();
    counts_.floors_raised += floors_.raised();
    counts_.erased += floors_.erasures();
    for (const std::string& key : keys_) {
      ++clock_;
      std::set<std::vector<std::string>> answers;
      for (uint64_t at = 1; at <= cluster_.nodes.size(); ++at) {
        get_of_[cluster_.last_request + 1] = {key, clock_, copies_};
        answers.insert(cluster_.get(at, key, copies_).values);
        ++clock_;
      }
      EXPECT_EQ(answers.size(), 1U) << "all agree about " << key;
      check_stored(key);
    }
  }

  void check_stored(const std::string& key) {
    std::vector<Record> copies;
    for (const uint16_t position : ring_->preference_list(StoreFixture::place(key).partition)) {
      copies.push_back(cluster_.stored(position + 1U, key));
    }
    for (const Record& copy : copies) {
      ASSERT_EQ(copy.versions.size(), copies[0].versions.size());
      for (size_t i = 0; i < copy.versions.size(); ++i) {
        EXPECT_EQ(copy.versions[i].dot, copies[0].versions[i].dot);
      }
    }
    floors_.look();
    const CausalContext known = floors_.with_erased(copies[0].context, key);
    for (const Version& version : copies[0].versions) {
      EXPECT_FALSE(is_superseded_in(copies[0].context, version.dot))
          << "I3: a sibling that somebody has replaced";
    }
    for (const Operation& operation : operations_) {
      if (!operation.acknowledged || operation.put.key != key) continue;
      const bool may_be_gone = operation.put.tombstone || is_superseded_in(known, *operation.dot);
      EXPECT_TRUE(holds(copies[0], *operation.dot) || may_be_gone)
          << "I1: " << operation.put.value << " is lost";
      EXPECT_TRUE(known.covers(*operation.dot)) << "I1: " << operation.put.value;
    }
  }

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
