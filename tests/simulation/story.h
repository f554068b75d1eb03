// Histories as a store would make them, right or broken: stories about key "k" of one ring.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/place.h"
#include "storage/record_codec.h"
#include "tools/simulation/checkers.h"

namespace ringkv::simulation {

// Of the only node of a ring of one copy; or of the first of three.
inline constexpr Actor kActor{NodeId{1}, Boot{11}};
inline constexpr Actor kOther{NodeId{2}, Boot{22}};
inline constexpr OperationId kOperation{5, 6};

using Dots = std::vector<Dot>;

inline std::string context_of(const Dots& dots, const std::string& bucket = "") {
  CausalContext context;
  for (const Dot& dot : dots) context.vector.raise(dot.actor, dot.counter);
  return encode_client_context(context, place_of({.partitions = 1}, bucket, "k").token);
}
inline std::string context_of(uint64_t counter) { return context_of(Dots{{kActor, counter}}); }

struct PutAs {
  std::optional<std::string> context = {};
  bool tombstone = false;
  Durability durability = Durability::kSynced;
  std::optional<OperationIndex> first_try = {};
  uint32_t w = 0;
  uint32_t client = 0;
  bool read_first = false;
  std::optional<uint64_t> ttl_ms = {};
};

// What a receipt tells: who acknowledged it, the record's context, and whether siblings stayed.
struct Receipt {
  Boot boot = kActor.boot;
  Dots left;
  std::vector<std::string> nodes = {"n1"};
  bool siblings_stay = false;
  std::vector<std::string> hints_at = {};  // for others
};

struct GetAs {
  uint32_t r = 0;
  bool unconfirmed = false;
};

// Tells a story about key "k" of one ring, one event after another.
class Story {
 public:
  explicit Story(uint32_t copies = 1, std::string bucket = "")
      : copies_(copies), bucket_(std::move(bucket)) {}

  OperationIndex begin_put(const std::string& value, const PutAs& as = {}) {
    ClientPut put;
    put.bucket = bucket_;
    put.key = "k";
    put.value = value;
    put.context = as.context;
    put.tombstone = as.tombstone;
    put.durability = as.durability;
    put.w = as.w;
    put.read_first = as.read_first;
    put.ttl_ms = as.ttl_ms;
    Operation operation;
    operation.client = as.client;
    operation.request = {put, std::chrono::seconds(5)};
    operation.first_try = as.first_try;
    return history.invoke(operation, now);
  }
  void acknowledge(OperationIndex index, const Receipt& as) {
    const auto& put = std::get<ClientPut>(history.operations()[index].request.body);
    PutReceipt receipt;
    ClientReply reply;
    if (!as.left.empty()) reply.seen = context_of(as.left, bucket_);
    if (!as.siblings_stay) receipt.context = Context(reply.seen);
    const bool synced = put.durability == Durability::kSynced;
    for (const std::string& node : as.nodes) {
      receipt.acks.push_back(
          {node, synced ? Acknowledgement::Kind::kSynced : Acknowledgement::Kind::kBuffered, {}});
    }
    for (const std::string& node : as.hints_at)
      receipt.acks.push_back({node, Acknowledgement::Kind::kHint, "n3"});
    receipt.operation_id = to_text(OperationName{kOperation, as.boot});
    reply.body = receipt;
    reply.boot = as.boot;
    complete(index, reply);
  }
  // By the only node. Beside a put with a context siblings stay.
  void acknowledge(OperationIndex index, uint64_t counter) {
    const auto& put = std::get<ClientPut>(history.operations()[index].request.body);
    acknowledge(index, Receipt{.left = {{kActor, counter}}, .siblings_stay = put.context.has_value()});
  }
  void fail(OperationIndex index, const Status& status) { complete(index, {status, {}, 1, kActor.boot, {}}); }
  OperationIndex put(const std::string& value, uint64_t counter, const PutAs& as = {}) {
    const OperationIndex index = begin_put(value, as);
    acknowledge(index, counter);
    return index;
  }
  OperationIndex put(const std::string& value, const Receipt& receipt, const PutAs& as = {}) {
    const OperationIndex index = begin_put(value, as);
    acknowledge(index, receipt);
    return index;
  }

  void get(const std::vector<std::string>& values, const Dots& dots, const GetAs& as = {}) {
    GetResult result;
    result.values = values;
    result.context = Context(context_of(dots, bucket_));
    result.unconfirmed = as.unconfirmed;
    const OperationIndex index = begin({ClientGet{bucket_, "k", as.r, true}, std::chrono::seconds(5)});
    complete(index, {{}, result, 1, kActor.boot, {}});
  }
  void get(const std::vector<std::string>& values, uint64_t counter) { get(values, Dots{{kActor, counter}}); }
  void exists(bool found) {
    complete(begin({ClientGet{"", "k", 0, false}, std::chrono::seconds(5)}),
             {{}, ExistsAnswer{found}, 1, kActor.boot, {}});
  }
  void scan(const std::vector<std::string>& values) {
    ScanPage page;
    if (!values.empty()) page.entries.push_back({"k", values});
    complete(begin({ClientScan{}, std::chrono::seconds(5)}), {{}, page, 1, kActor.boot, {}});
  }
  void local_get(const std::vector<std::pair<std::string, std::string>>& values_and_dots) {
    LocalRecord record;
    for (const auto& [value, dot] : values_and_dots) {
      VersionInfo& version = record.versions.emplace_back();
      version.value = value;
      version.dot = "0000000000000001-000000000000000b:" + dot;
    }
    record.context = Context(context_of(100));
    local_get("n1", record);
  }
  void local_get(const std::string& node, const LocalRecord& record) {
    complete(begin({ClientLocalGet{node, "", "k"}, std::chrono::seconds(5)}),
             {{}, record, 1, kActor.boot, {}});
  }

  OperationIndex begin(const ClientRequest& request) {
    Operation operation;
    operation.request = request;
    return history.invoke(operation, now);
  }
  void complete(OperationIndex index, const ClientReply& reply) { history.complete(index, reply, now); }

  // The broken invariant, or "".
  std::string verdict() const {
    const RingFacts ring{.copies = copies_,
                         .lww_bucket = "lww",
                         .names = {{kActor.node, "n1"}, {kOther.node, "n2"}, {NodeId{3}, "n3"}},
                         .closed_lives = closed_lives};
    const auto violation = check_history(history, ring);
    return violation ? violation->invariant : "";
  }

  History history;
  std::set<Actor> closed_lives;
  Time now{std::chrono::seconds(100)};

 private:
  const uint32_t copies_;
  const std::string bucket_;
};

}  // namespace ringkv::simulation
