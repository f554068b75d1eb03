#include "replication/reply_merge.h"

#include <algorithm>

namespace ringkv {
namespace {

bool holds(const Record& record, const Dot& dot) {
  return std::any_of(record.versions.begin(), record.versions.end(),
                     [&dot](const Version& version) { return version.dot == dot; });
}

bool under_floor(const ReplicaGetReply& reply, const Dot& dot) {
  return reply.with_floor &&
         (reply.floor.covers(dot) || std::binary_search(reply.closed.begin(), reply.closed.end(), dot.actor));
}

}  // namespace

Record merged(const std::vector<const ReplicaGetReply*>& replies) {
  Record result;
  for (size_t i = 0; i < replies.size(); ++i) {
    Record own = replies[i]->record;
    for (const ReplicaGetReply* other : replies) {
      for (const Version& version : other->record.versions) {
        if (holds(own, version.dot) || own.context.covers(version.dot)) continue;
        if (!under_floor(*replies[i], version.dot)) continue;
        own.context.vector.raise(version.dot.actor, version.dot.counter);
        own.context.highest_time = std::max(own.context.highest_time, version.time);
      }
    }
    result = i == 0 ? std::move(own) : merge(result, own);
  }
  return result;
}

bool knows(const ReplicaGetReply& reply, const VersionVector& seen) {
  return std::all_of(seen.entries().begin(), seen.entries().end(), [&](const VersionVector::Entry& entry) {
    const Dot dot{entry.actor, entry.counter};
    return reply.record.context.covers(dot) || under_floor(reply, dot);
  });
}

}  // namespace ringkv
