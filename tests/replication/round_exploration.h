// One random history of three owners whose writes reach each other only partly, and what must be true of them
// in the end, whatever happened: rounds in any interleaving, letters late, doubled and lost, nodes killed,
// cut off from power, wiped or restored from an old copy, tombstones gone under floors.
//
// It knows what every writer had truly seen: each node's sight of a key goes with its data, to other nodes
// and back with a lost tail. So what a context claims can be checked against it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tests/replication/round_fixture.h"
#include "tests/replication/sight.h"
#include "tests/replication/write_oracle.h"

namespace ringkv {

class RoundExploration {
 public:
  struct Settings {
    uint64_t seed = 0;
    int steps = 450;
    bool disk_losses = true;  // one a history
    bool closes_lives = false;
  };
  struct Counts {
    size_t puts = 0;
    size_t acknowledged = 0;
    size_t raised_on_the_way = 0;  // floors, before the end began
    size_t erased = 0;
    size_t differences = 0;
    size_t lives = 0;
    size_t tombstones_left = 0;

    Counts& operator+=(const Counts& other) {
      puts += other.puts;
      acknowledged += other.acknowledged;
      raised_on_the_way += other.raised_on_the_way;
      erased += other.erased;
      differences += other.differences;
      lives += other.lives;
      tombstones_left += other.tombstones_left;
      return *this;
    }
  };

  explicit RoundExploration(const Settings& settings)
      : settings_(settings), random_(settings.seed), cluster_(3, std::chrono::milliseconds(200)) {
    cluster_.slice_bytes_max = random_.one_in(2) ? 1 : 0;
    cluster_.leaf_records_max = random_.one_in(2) ? 1 : 0;
    cluster_.on_written = [this](auto& from, auto& letter) { note(from, letter); };
    cluster_.on_client = [this](auto& at, const auto& letter) { on_client(at, letter); };
    cluster_.on_dispatched = [this](auto& to, const auto& letter) { see(to, letter); };
    cluster_.on_take = [this](auto& node, auto& commit) { sight_.save(node, commit); };
  }

  void run() {
    for (int step = 0; step < settings_.steps; ++step) this->step();
    settle();
    check();
  }
  const Counts& counts() const { return counts_; }

 private:
  using Dots = WriteOracle::Dots;

  struct SeenContext {
    CausalContext context;
    Dots sight;
  };
  struct Sent {  // a ReplicaPut of ours
    std::string key;
    Dots sight;
    std::optional<Dot> dot;
  };
  struct Get {
    std::string key;
    std::optional<uint64_t> repairs;  // whom, with what two have
    std::vector<Record> found;
    Dots sight;
    size_t asked = 1;
  };
  struct Stamp {
    std::string key;
    Dots sight;  // of its client
    std::optional<Dot> dot;
  };
  struct Hint {
    Record record;
    Dots sight;
  };
  using Hints = std::map<std::pair<uint64_t, std::string>, Hint>;  // by intended node and key

  // Three in one partition, two of them in one leaf; one in another.
  static const std::vector<std::string>& keys() {
    static const std::vector<std::string> kKeys = [] {
      std::map<LeafId, std::string> first;
      std::vector<std::string> found;
      for (int i = 0; found.size() < 4; ++i) {
        const std::string key = "k" + std::to_string(i);
        const Place place = RoundFixture::place(key);
        if (place.partition != 3) {
          if (found.size() == 3) found.push_back(key);
          continue;
        }
        const auto [at, is_new] = first.emplace(place.leaf, key);
        if (!is_new && found.empty()) found = {at->second, key};
        if (is_new && found.size() == 2) found.push_back(key);
      }
      return found;
    }();
    return kKeys;
  }

  uint64_t random_node() { return 1 + random_.below(3); }
  const std::string& random_key() { return keys()[random_.below(4)]; }
  bool is_up(uint64_t number) { return cluster_.node(number).up(); }

  // ---- What may happen

  void step() {
    const uint64_t number = random_node();
    RoundFixture::Node& node = cluster_.node(number);
    const uint64_t what = random_.below(48);
    if (what < 3) {
      put(number);
    } else if (what < 5) {
      get(number);
    } else if (what < 6) {
      repair_by_reading();
    } else if (what < 7) {
      if (!hints_.empty()) deliver_hint(random_hint());
    } else if (what < 10) {
      cluster_.pass(std::chrono::milliseconds(random_.one_in(50) ? 3000 : random_.below(150)));
    } else if (what < 15) {
      if (!cluster_.begin_commit(node)) cluster_.finish_commit(node);
    } else if (what < 18) {
      cluster_.read_disk(node);
    } else if (what < 19) {
      if (random_.one_in(4)) misfortune(number);
    } else {
      deliver();
    }
  }

  void put(uint64_t number) {
    if (!is_up(number)) return;
    const std::string key = random_key();
    std::optional<CausalContext> context;
    const uint64_t request = ++last_request_;
    Stamp& stamp = stamps_[request];
    stamp.key = key;
    const std::vector<SeenContext>& seen = contexts_[key];
    if (!seen.empty() && random_.below(10) < 7) {
      const SeenContext& chosen = seen[random_.below(seen.size())];
      context = chosen.context;
      stamp.sight = chosen.sight;
    }
    const bool tombstone = random_.below(100) < 45;
    RoundFixture::Node& node = cluster_.node(number);
    cluster_.act(node, [&](auto& outbox) {
      node.replica->on(StampPut{.request = request,
                                .place = RoundFixture::place(key),
                                .key = key,
                                .kind = tombstone ? VersionKind::kTombstone : VersionKind::kValue,
                                .value = tombstone ? "" : "v" + std::to_string(request),
                                .context = std::move(context),
                                .deadline = cluster_.now + std::chrono::seconds(5)},
                       cluster_.now, cluster_.wall_now, outbox);
    });
  }

  void get(uint64_t number) {
    if (!is_up(number)) return;
    ask(++last_request_, {.key = random_key()}, {number});
  }
  void repair_by_reading() {
    const uint64_t a = random_node();
    const uint64_t b = a % 3 + 1;
    if (is_up(a) && is_up(b))
      ask(++last_request_, {.key = random_key(), .repairs = random_node(), .asked = 2}, {a, b});
  }
  void ask(uint64_t request, Get get, const std::vector<uint64_t>& whom) {
    const bool with_floor = get.repairs || random_.one_in(2);
    const std::string key = get.key;
    gets_[request] = std::move(get);
    for (const uint64_t number : whom) {
      RoundFixture::Node& node = cluster_.node(number);
      cluster_.act(node, [&](auto& outbox) {
        node.replica->on(node.id,
                         ReplicaGet{.request = request,
                                    .place = RoundFixture::place(key),
                                    .key = key,
                                    .with_floor = with_floor,
                                    .deadline = cluster_.now + std::chrono::seconds(5)},
                         cluster_.now, outbox);
      });
    }
  }

  void deliver() {
    if (cluster_.in_flight.empty()) return;
    const size_t index = random_.below(cluster_.in_flight.size());
    const uint64_t fate = random_.below(40);
    const bool is_of_rounds = RoundFixture::is_of_rounds(cluster_.in_flight[index].message);
    if (fate == 0 && (!is_of_rounds || random_.one_in(8))) {
      cluster_.in_flight.erase(cluster_.in_flight.begin() + static_cast<ptrdiff_t>(index));
    } else if (fate >= 1 && fate <= 3) {
      cluster_.receive(cluster_.in_flight[index]);
    } else {
      cluster_.deliver(index);
    }
  }

  Hints::iterator random_hint() {
    return std::next(hints_.begin(), static_cast<ptrdiff_t>(random_.below(hints_.size())));
  }
  void deliver_hint(Hints::iterator at) {
    const auto [number, key] = at->first;
    if (!is_up(number)) return;
    const uint64_t request =
        send(number, key, at->second.record, at->second.sight, std::nullopt, Source::kHint);
    cluster_.deliver(cluster_.in_flight.size() - 1);
    RoundFixture::Node& node = cluster_.node(number);
    for (int i = 0; i < 20 && sent_.contains(request); ++i) {
      cluster_.read_disk(node);
      if (!cluster_.begin_commit(node)) cluster_.finish_commit(node);
      for (size_t j = cluster_.in_flight.size(); j-- > 0;) {
        if (std::holds_alternative<ReplicaPutAck>(cluster_.in_flight[j].message)) cluster_.deliver(j);
      }
    }
    if (!sent_.contains(request)) hints_.erase(at);
  }

  void misfortune(uint64_t number) {
    if (!is_up(number)) return start(number, false);
    const uint64_t kind = random_.below(10);
    if (kind == 0) {  // whatever is on its way between two nodes is lost, and both hear of it
      const uint64_t other = number % 3 + 1;
      std::erase_if(cluster_.in_flight, [&](const auto& letter) {
        return (letter.from.value == number && letter.to.value == other) ||
               (letter.from.value == other && letter.to.value == number);
      });
      return restore_link(number, other);
    }
    if (kind == 1 && settings_.disk_losses && !copy_) {
      copy_ = cluster_.node(number).disk->copy();
      copied_ = number;
      return;
    }
    cluster_.kill(number);
    RoundFixture::Node& node = cluster_.node(number);
    if (kind == 2 && settings_.disk_losses && !disk_lost_) {
      disk_lost_ = true;
      if (copied_ == number) {
        node.disk = copy_->copy();
      } else {
        node.disk->wipe();
      }
      oracle_.lose_disk(number);
      return start(number, true);
    }
    if (random_.one_in(2)) node.disk->crash(random_);
    if (random_.one_in(2)) start(number, false);
  }
  void restore_link(uint64_t a, uint64_t b) {
    for (const auto& [at, to] : {std::pair(a, b), std::pair(b, a)}) {
      RoundFixture::Node& node = cluster_.node(at);
      if (!node.up()) continue;
      cluster_.act(node, [&, to = to](auto& outbox) {
        node.convergence->on_link_restored(NodeId{to}, cluster_.moment(), outbox);
      });
    }
  }
  void start(uint64_t number, bool lost) {
    cluster_.start(number);
    RoundFixture::Node& node = cluster_.node(number);
    if (lost) node.wholeness->lose_all();
    sight_.restore(node);
    ++counts_.lives;
  }

  // ---- What nodes have truly seen

  void note(const RoundFixture::Node& from, RoundFixture::Letter& letter) {
    if (const auto* stamped = std::get_if<PutStamped>(&letter.message)) on_stamped(from, *stamped);
    sight_.note(from, letter);
  }

  void see(const RoundFixture::Node& at, const RoundFixture::Letter& letter) {
    sight_.see(at, letter);
    if (const auto* put = std::get_if<ReplicaPut>(&letter.message)) {
      const auto sent = all_sent_.find(put->request);
      if (sent != all_sent_.end()) sight_.add(at.id.value, put->key, sent->second.sight);
    }
    const size_t raised = sight_.look_at_floor(at);
    if (!is_settling_) counts_.raised_on_the_way += raised;
  }

  // ---- What clients hear

  void on_client(RoundFixture::Node& at, const RoundFixture::Letter& letter) {
    if (const auto* stamped = std::get_if<PutStamped>(&letter.message)) {
      tell_others(at.id.value, *stamped);
    } else if (const auto* ack = std::get_if<StampPutAck>(&letter.message)) {
      if (ack->status.ok()) oracle_.acknowledge(*stamps_.at(ack->request).dot, at.id.value);
    } else if (const auto* ack = std::get_if<ReplicaPutAck>(&letter.message)) {
      const auto sent = sent_.find(ack->request);
      if (sent == sent_.end() || !ack->status.ok()) return;
      if (sent->second.dot) oracle_.acknowledge(*sent->second.dot, ack->replica.value);
      sent_.erase(sent);
    } else if (const auto* reply = std::get_if<ReplicaGetReply>(&letter.message)) {
      on_reply(at, *reply);
    }
  }

  void on_stamped(const RoundFixture::Node& at, const PutStamped& stamped) {
    Stamp& stamp = stamps_.at(stamped.request);
    const Record record = *decode_record(*stamped.record);
    const Actor actor = at.store->actor();
    stamp.dot = Dot{actor, record.context.vector.counter_of(actor)};
    Dots& seen = sight_.of(at.id.value, stamp.key);
    seen.insert(stamp.sight.begin(), stamp.sight.end());
    oracle_.on_stamped(stamp.key, *stamp.dot, record, seen);
    seen.insert(*stamp.dot);
    stamp.sight = seen;
  }
  void tell_others(uint64_t at, const PutStamped& stamped) {
    const Stamp& stamp = stamps_.at(stamped.request);
    const Record record = *decode_record(*stamped.record);
    for (uint64_t other = 1; other <= 3; ++other) {
      if (other == at) continue;
      const uint64_t fate = random_.below(10);
      if (fate < 6) send(other, stamp.key, record, stamp.sight, stamp.dot, Source::kPut);
      if (fate == 6) keep_hint(other, stamp.key, record, stamp.sight, *stamp.dot);
    }
  }

  void keep_hint(uint64_t intended, const std::string& key, const Record& record, const Dots& sight,
                 const Dot& dot) {
    Hint& hint = hints_[{intended, key}];
    hint.record = merge(hint.record, record);
    hint.sight.insert(sight.begin(), sight.end());
    oracle_.acknowledge(dot, 10);  // a stand-in, whose disk is never lost
  }

  uint64_t send(uint64_t to, const std::string& key, const Record& record, const Dots& sight,
                std::optional<Dot> dot, Source source) {
    const Place place = RoundFixture::place(key);
    const uint64_t request = ++last_request_;
    sent_[request] = all_sent_[request] = {key, sight, dot};
    cluster_.in_flight.push_back({NodeId{99}, NodeId{to},
                                  ReplicaPut{.request = request,
                                             .place = place,
                                             .key = key,
                                             .record = encoded(place, key, record),
                                             .source = source,
                                             .deadline = cluster_.now + std::chrono::hours(10)}});
    return request;
  }

  SharedBytes encoded(const Place& place, const std::string& key, const Record& record) {
    static const RecordHasher kHasher(RoundFixture::description(3).secret);
    auto bytes = std::make_shared<std::string>();
    encode_record(record, kHasher.hash(place.digest, record), content_bytes(key, record), *bytes);
    return bytes;
  }

  void on_reply(RoundFixture::Node& at, const ReplicaGetReply& reply) {
    const auto found = gets_.find(reply.request);
    if (found == gets_.end() || !reply.status.ok()) return;
    Get& get = found->second;
    get.found.push_back(reply.record);
    const Dots& sight = sight_.of(at.id.value, get.key);
    get.sight.insert(sight.begin(), sight.end());
    if (get.found.size() < get.asked) return;
    if (get.repairs) {
      const Record merged = merge(get.found[0], get.found[1]);
      if (!merged.context.vector.empty())
        send(*get.repairs, get.key, merged, get.sight, std::nullopt, Source::kReadRepair);
    } else {
      contexts_[get.key].push_back({get.found[0].context, get.sight});
    }
    gets_.erase(found);
  }

  // ---- The end

  void settle() {
    is_settling_ = true;
    for (uint64_t number = 1; number <= 3; ++number) {
      if (!is_up(number)) start(number, false);
    }
    std::vector<RoundFixture::Letter> late;
    for (size_t i = cluster_.in_flight.size(); i-- > 0;) {
      auto& letter = cluster_.in_flight[i];
      if (!std::holds_alternative<ReplicaPut>(letter.message)) continue;
      late.push_back(std::move(letter));
      cluster_.in_flight.erase(cluster_.in_flight.begin() + static_cast<ptrdiff_t>(i));
    }
    cluster_.run();
    if (random_.one_in(2)) deliver_hints();
    if (settings_.closes_lives) close_lives(late);
    pull_all();
    deliver_hints();
    for (auto& letter : late) cluster_.in_flight.push_back(std::move(letter));
    cluster_.run();
    pull_all();
  }
  void deliver_hints() {
    while (!hints_.empty()) deliver_hint(hints_.begin());
  }
  void pull_all() {
    for (int i = 0; i < 3; ++i) {
      for (uint64_t number = 1; number <= 3; ++number) {
        const RepairReport report = cluster_.repaired(number);
        EXPECT_FALSE(report.partial) << report.problems.front();
      }
      cluster_.run_for(std::chrono::milliseconds(500), std::chrono::milliseconds(100));
    }
  }

  // As members do it: nothing of an ended life is under way or hinted, then everybody has pulled from
  // everybody.
  void close_lives(std::vector<RoundFixture::Letter>& late) {
    std::set<Actor> latest;
    for (const auto& node : cluster_.nodes) latest.insert(node->store->actor());
    std::erase_if(late, [&](const RoundFixture::Letter& letter) {
      const Sent& sent = all_sent_.at(std::get<ReplicaPut>(letter.message).request);
      return sent.dot && !latest.contains(sent.dot->actor);
    });
    deliver_hints();
    pull_all();
    std::vector<Actor> ended;
    for (const Actor& life : oracle_.lives()) {
      if (!latest.contains(life)) ended.push_back(life);
    }
    for (const auto& node : cluster_.nodes) {
      if (random_.one_in(4)) continue;  // it is later
      node->store->close_lives(ended);
    }
    pull_all();
    for (const auto& node : cluster_.nodes) node->store->close_lives(ended);
  }

  void check() {
    for (const std::string& key : keys()) {
      std::vector<Dots> copies;
      for (uint64_t number = 1; number <= 3; ++number) {
        Dots& copy = copies.emplace_back();
        const Record record = cluster_.stored(number, key);
        for (const Version& version : record.versions) {
          if (version.kind == VersionKind::kValue) copy.insert(version.dot);
        }
        counts_.tombstones_left += !record.versions.empty() && copy.empty() ? 1 : 0;
      }
      EXPECT_TRUE(copies[0] == copies[1] && copies[1] == copies[2]) << "L3: diverged at " << key;
      oracle_.check_end(key, copies[0]);
    }
    counts_.puts += oracle_.stamped();
    counts_.acknowledged += oracle_.acknowledged();
    for (uint64_t number = 1; number <= 3; ++number) {
      const RepairReport report = cluster_.repaired(number);
      EXPECT_EQ(report.differences, 0U) << "L4";
      EXPECT_EQ(report.keys_sent, 0U) << "L4";
      EXPECT_EQ(report.bytes_sent, 0U) << "L4";
      counts_.erased += cluster_.statistics(number).tombstones_erased;
      counts_.differences += cluster_.statistics(number).differences;
    }
  }

  const Settings settings_;
  SeededRandom random_;
  RoundFixture cluster_;
  Counts counts_;

  WriteOracle oracle_;
  SightOfNodes sight_{{RoundFixture::place(keys()[0]).partition, RoundFixture::place(keys()[3]).partition}};
  std::map<std::string, std::vector<SeenContext>> contexts_;
  Hints hints_;                    // by intended node and key
  std::map<uint64_t, Sent> sent_;  // by request: not acknowledged yet
  std::map<uint64_t, Sent> all_sent_;
  std::map<uint64_t, Get> gets_;      // by request
  std::map<uint64_t, Stamp> stamps_;  // by request
  uint64_t last_request_ = 0;

  std::unique_ptr<MemoryDisk> copy_;
  uint64_t copied_ = 0;
  bool disk_lost_ = false;
  bool is_settling_ = false;
};

}  // namespace ringkv
