#include "replication/stragglers.h"

#include <memory>
#include <utility>

#include "storage/record_codec.h"

namespace ringkv {

ReplicaPut repair_of(const GetRequest& get) {
  const GetRequest::Question& question = get.question();
  auto bytes = std::make_shared<std::string>();
  encode_record(get.record(), get.hash(), content_bytes(question.key, get.record()), *bytes);
  return {.bucket = question.bucket,
          .key = question.key,
          .record = std::move(bytes),
          .conflict = question.conflict,
          .source = Source::kReadRepair,
          .sync = true,
          .deadline = question.deadline};
}

void Stragglers::add(RequestNumber request, const GetRequest& get) {
  const Record& record = get.record();
  if (is_inspection(get.question().purpose) || (record.versions.empty() && record.context.vector.empty()))
    return;
  std::vector<NodeId> awaited = get.awaited();
  if (awaited.empty() || gets_.size() >= kGetsMax || held_bytes_ >= kHeldBytesMax) return;
  Get straggling{std::move(awaited), repair_of(get), get.record().context, get.hash()};
  straggling.copy.place = get.question().place;
  held_bytes_ += straggling.copy.record->size();
  gets_.emplace(request, std::move(straggling));
}

std::optional<ReplicaPut> Stragglers::on(const ReplicaGetReply& reply) {
  const auto at = gets_.find(reply.request);
  if (at == gets_.end() || std::erase(at->second.awaited, reply.replica) == 0) return std::nullopt;
  const Get& get = at->second;
  std::optional<ReplicaPut> copy;
  // One that knows more has all that this get has found.
  const bool differs = reply.hash != get.hash && !reply.record.context.vector.covers(get.context.vector);
  if (reply.status.ok() && differs) copy = get.copy;
  if (get.awaited.empty()) erase(reply.request);
  return copy;
}

void Stragglers::expire(RequestNumber request, Time now) {
  const auto at = gets_.find(request);
  if (at != gets_.end() && now >= at->second.copy.deadline) erase(request);
}

void Stragglers::erase(RequestNumber request) {
  const auto at = gets_.find(request);
  held_bytes_ -= at->second.copy.record->size();
  gets_.erase(at);
}

void Stragglers::clear() {
  gets_.clear();
  held_bytes_ = 0;
}

}  // namespace ringkv
