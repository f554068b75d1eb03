// What a node's read workers do with what its cores ask of the disk.
#pragma once

#include <utility>

#include "replication/messages.h"
#include "storage/engine.h"
#include "storage/hint_store.h"

namespace ringkv {

inline RecordRead read_from(Engine& engine, const ReadRecord& read) {
  RecordRead result{read.ticket, {}, {}};
  if (read.hint_for) {
    Result<std::string> hint = read_hint(engine, read.hint_for, read.place.storage_key);
    if (hint.ok()) result.bytes = std::move(*hint);
    result.status = hint.status();
    return result;
  }
  const Result<Lookup> found = engine.get(Family::kData, read.place.storage_key, result.bytes);
  if (!found.ok()) result.status = found.status();
  return result;
}

// Of a walk: the step's answer and its slice.
template <class Answer, class Step, class Walk>
Answer walk_through(Engine& engine, uint64_t ticket, const Step& step, Walk walk) {
  Answer answer{ticket, {}, {}};
  auto slice = walk(engine, step);
  if (slice.ok()) answer.slice = std::move(*slice);
  answer.status = slice.status();
  return answer;
}

inline SliceRead read_from(Engine& engine, const ReadSlice& read) {
  return walk_through<SliceRead>(engine, read.ticket, read.step, scan_slice);
}
inline HintsRead read_from(Engine& engine, const ReadHints& read) {
  return walk_through<HintsRead>(engine, read.ticket, read.step, hint_slice);
}
inline TransientRead read_from(Engine& engine, const ReadTransient& read) {
  return walk_through<TransientRead>(engine, read.ticket, read.step, transient_slice);
}

inline HintRead read_from(Engine& engine, const ReadHint& read) {
  HintRead result{read.ticket, {}, {}};
  Result<std::string> found = read_hint(engine, read.intended, read.storage_key);
  if (found.ok()) result.record = std::move(*found);
  result.status = found.status();
  return result;
}

}  // namespace ringkv
