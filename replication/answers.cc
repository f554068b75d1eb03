#include "replication/answers.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "replication/reply_merge.h"
#include "storage/record_codec.h"
#include "storage/scan.h"

namespace ringkv {
namespace {

std::string_view name_of(Source source) {
  switch (source) {
    case Source::kPut:
      return "put";
    case Source::kReadRepair:
      return "read-repair";
    case Source::kHint:
      return "hint";
    case Source::kAntiEntropy:
      return "anti-entropy";
    case Source::kTransfer:
      return "transfer";
  }
  return "unknown";
}

std::string dot_text(const Dot& dot) {
  return cat(hex(dot.actor.node.value), "-", hex(dot.actor.boot.value), ":", dot.counter);
}

std::vector<VersionInfo> version_infos(const Record& record) {
  std::vector<VersionInfo> infos;
  for (const Version& version : record.versions) {
    VersionInfo& info = infos.emplace_back();
    info.value = version.value;
    info.dot = dot_text(version.dot);
    info.tombstone = version.kind == VersionKind::kTombstone;
    info.time_us = version.time;
    if (version.expires_at_ms != 0) info.expires_at_ms = version.expires_at_ms;
    info.source = name_of(version.source);
  }
  return infos;
}

Context context_of(const GetRequest& get) {
  return Context(encode_client_context(get.record().context, get.question().place.token));
}

// What a get with R = `read_quorum` would answer from these replies, taken in preference order.
std::string would_answer(const GetRequest& get, size_t read_quorum, uint64_t now_ms) {
  std::vector<const ReplicaGetReply*> replies;
  for (const NodeId owner : get.plan().owners) {
    const ReplicaGetReply* reply = get.reply_of(owner);
    if (reply == nullptr || !reply->whole) continue;
    replies.push_back(reply);
    if (replies.size() == read_quorum) break;
  }
  if (replies.size() < read_quorum) return "unavailable";
  return merged(replies).has_live_value(now_ms) ? "found" : "not found";
}

ReplicaInfo replica_info(NodeId node, const RingView& view) {
  ReplicaInfo replica;
  replica.node = view.name_of(node);
  if (const Member* member = view.ring().description().find_member(node)) replica.rack = member->rack;
  return replica;
}

std::string blocked_text(const Dot& dot, const RingView& view) {
  return cat(view.name_of(dot.actor.node), "'s life ", hex(dot.actor.boot.value), ": its write ", dot.counter,
             " isn't known to be merged here");
}

// An owner that hasn't answered is shown as not alive. Hints come after the owners.
Explanation explanation(const GetRequest& get, const RingView& view, uint64_t now_ms) {
  Explanation explanation;
  explanation.token = get.question().place.token;
  explanation.partition = get.question().place.partition;
  explanation.epoch = view.ring().epoch();
  std::vector<NodeId> all = get.plan().owners;
  for (const NodeId owner : all) {
    ReplicaInfo& replica = explanation.replicas.emplace_back(replica_info(owner, view));
    const ReplicaGetReply* reply = get.reply_of(owner);
    if (reply == nullptr) continue;
    replica.alive = true;
    replica.whole = reply->whole;
    replica.versions = version_infos(reply->record);
    for (const Dot& dot : reply->blocked_by) replica.blocked_by.push_back(blocked_text(dot, view));
  }
  all.insert(all.end(), get.plan().others.begin(), get.plan().others.end());
  for (const NodeId node : all) {
    const ReplicaGetReply* reply = get.reply_of(node);
    if (reply == nullptr) continue;
    for (const ReplicaGetReply::HeldHint& hint : reply->hints) {
      ReplicaInfo& replica = explanation.replicas.emplace_back(replica_info(node, view));
      replica.alive = true;
      replica.hint_for = view.name_of(hint.intended);
      replica.versions = version_infos(hint.record);
    }
  }
  for (size_t r = 1; r <= get.plan().owners.size(); ++r) {
    explanation.would_answer.push_back(would_answer(get, r, now_ms));
  }
  return explanation;
}

// Of the put that an earlier try made, where the record still holds its version and enough owners hold the
// record.
ClientReply retried_put(const GetRequest& get, const RingView& view, bool confirmed) {
  const GetRequest::Question& question = get.question();
  for (const Version& version : get.record().versions) {
    if (version.operation != question.operation) continue;
    if (!confirmed) {
      return get_failure(question, unavailable("its version is there, but too few owners could be reached"));
    }
    PutReceipt receipt;
    receipt.epoch = view.ring().epoch();
    ClientReply reply;
    reply.seen = context_of(get).bytes();
    if (get.record().versions.size() == 1) receipt.context = Context(reply.seen);
    reply.body = std::move(receipt);
    return reply;
  }
  ClientReply reply;
  reply.status = unknown_outcome(
      cat("key ", display_key(question.key), ": the operation was first sent to another life of a node and ",
          "its version isn't in the record: it was never written, or was replaced since; get the key to "
          "see"));
  return reply;
}

}  // namespace

PutReceipt receipt(const RingView& view, const std::vector<NodeId>& acknowledged_by, bool synced,
                   const std::vector<PutCopies::Hint>& hints) {
  PutReceipt receipt;
  receipt.epoch = view.ring().epoch();
  receipt.acks.reserve(acknowledged_by.size() + hints.size());
  for (const NodeId node : acknowledged_by) {
    receipt.acks.push_back(
        {.node = view.name_of(node),
         .kind = synced ? Acknowledgement::Kind::kSynced : Acknowledgement::Kind::kBuffered,
         .hint_for = {}});
  }
  for (const PutCopies::Hint& hint : hints) {
    receipt.acks.push_back({.node = view.name_of(hint.keeper),
                            .kind = Acknowledgement::Kind::kHint,
                            .hint_for = view.name_of(hint.intended)});
  }
  return receipt;
}

ClientReply get_reply(const GetRequest& get, const RingView& view, bool confirmed, uint64_t now_ms) {
  ClientReply reply;
  switch (get.question().purpose) {
    case GetPurpose::kGet:
      reply.body = GetResult{.values = live_values(get.record(), now_ms),
                             .context = context_of(get),
                             .epoch = view.ring().epoch(),
                             .unconfirmed = !confirmed};
      break;
    case GetPurpose::kExists:
      reply.body = ExistsAnswer{get.record().has_live_value(now_ms)};
      break;
    case GetPurpose::kLocalGet:
      reply.body =
          LocalRecord{get.record().has_live_value(now_ms), version_infos(get.record()), context_of(get)};
      break;
    case GetPurpose::kExplain:
      reply.body = explanation(get, view, now_ms);
      break;
    case GetPurpose::kRetriedPut:
      return retried_put(get, view, confirmed);
  }
  return reply;
}

ClientReply get_failure(const GetRequest::Question& question, Status status) {
  ClientReply reply;
  reply.status = std::move(status);
  if (question.purpose != GetPurpose::kRetriedPut) return reply;
  reply.status =
      unknown_outcome(cat("key ", display_key(question.key), ": what became of its first try isn't known (",
                          reply.status.message(), "): repeat it with operation id ",
                          to_text(OperationName{question.operation, question.first_tried})));
  return reply;
}

}  // namespace ringkv
