// What a QuorumExploration checks of the answers that its clients hear, and of all that is stored at the end.
#pragma once

#include "tests/replication/quorum_exploration.h"

namespace ringkv {

// --- What clients hear

inline void QuorumExploration::on_answer(const ClientAnswer& answer) {
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

inline void QuorumExploration::on_put_answer(Operation& operation, const ClientReply& reply,
                                             bool may_be_repeated) {
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
inline void QuorumExploration::count_acknowledgements(Operation& operation, const PutReceipt& receipt,
                                                      bool may_be_repeated) {
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

inline void QuorumExploration::on_get_answer(const Get& get, const ClientReply& reply) {
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
inline void QuorumExploration::check_acknowledged(const Get& get, const Seen& seen) {
  const CausalContext known = floors_.with_erased(seen.context, get.key);
  for (const Operation& operation : operations_) {
    if (!operation.acknowledged || operation.put.key != get.key) continue;
    if (!must_be_seen(operation, get)) continue;
    EXPECT_TRUE(known.covers(*operation.dot)) << "I1: " << operation.put.value << " is missed";
    const bool is_there = seen.shown.contains(*operation.dot) || operation.put.tombstone;
    EXPECT_TRUE(is_there || is_superseded_in(known, *operation.dot)) << "I1: " << operation.put.value;
  }
}

inline bool QuorumExploration::must_be_seen(const Operation& operation, const Get& get) const {
  if (operation.hinted && !healed_) return false;
  return operation.acknowledged_at < get.asked_at && operation.w + get.r > copies_;
}

// I2, at once: what such a write has replaced isn't shown.
inline void QuorumExploration::check_not_deleted(const Get& get, const Seen& seen) {
  for (const Dot& dot : seen.shown) {
    for (const Dot& by : superseders_[dot]) {
      const Operation& operation = operations_.at(stamped_.at(by).operation - 1);
      EXPECT_FALSE(operation.acknowledged && must_be_seen(operation, get))
          << "I2: " << stamped_.at(dot).version.value << " came back";
    }
  }
}

inline std::map<Dot, std::string> QuorumExploration::shown_keys(const Seen& seen) const {
  std::map<Dot, std::string> keys;
  for (const Dot& dot : seen.shown) keys[dot] = stamped_.at(dot).key;
  return keys;
}

// A confirmed answer is in every later quorum's.
inline void QuorumExploration::check_no_way_back(const Seen& earlier, const Seen& later) {
  for (const auto& [dot, key] : shown_keys(earlier))
    EXPECT_TRUE(floors_.with_erased(later.context, key).covers(dot)) << "went back in time";
  for (const Dot& dot : later.shown) {
    EXPECT_TRUE(earlier.shown.contains(dot) || !earlier.context.covers(dot)) << "came back";
  }
}

// --- The end

inline void QuorumExploration::heal() {
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
inline void QuorumExploration::check_hints_arrived() {
  floors_.look();
  for (const Operation& operation : operations_) {
    if (!operation.acknowledged || !operation.w_known) continue;
    size_t holders = 0;
    for (const uint16_t position : ring_->preference_list(StoreFixture::place(operation.put.key).partition)) {
      const std::string& key = operation.put.key;
      const Record copy = cluster_.stored(position + 1U, key);
      const bool has_it = holds(copy, *operation.dot) || operation.put.tombstone ||
                          is_superseded_in(floors_.with_erased(copy.context, key), *operation.dot);
      holders += floors_.knows(position + 1U, key, *operation.dot) && has_it ? 1 : 0;
    }
    EXPECT_GE(holders, operation.w) << "L2: " << operation.put.value << " never arrived";
  }
}

inline void QuorumExploration::check_end() {
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

inline void QuorumExploration::check_stored(const std::string& key) {
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

}  // namespace ringkv
