// What a key that a round's source lists, or doesn't list, means for this node: the decision of a
// PartitionRound, key by key. Pure.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/leaf_table.h"
#include "storage/record.h"

namespace ringkv {

// What the source says of all keys of the partition: a dot that it covers, and that isn't listed under its
// key, is superseded.
struct SourceClaims {
  Floor floor;
  std::vector<Actor> closed;  // ended lives of which it has everything; in order

  bool covers(const Dot& dot) const;
};

// What is held here under a key.
struct OwnKey {
  std::vector<Dot> dots;  // in order
  CausalContext context;  // filled
  bool transient = false;
};

enum class Difference : uint8_t {
  kNone,        // this node has all that the source has, or knows that it is superseded
  kLacking,     // a version, or part of a bare context, was never merged here
  kSuperseded,  // a version that is held here is gone there
};

// Of a key that the source lists with these dots (in order; some). `own`: nullptr where it is absent here.
// `is_under_own_floor` speaks of the partition.
Difference difference_of(const std::vector<Dot>& listed, const OwnKey* own, const SourceClaims& source,
                         const std::function<bool(const Dot&)>& is_under_own_floor);

// The same of a key of which the source has only a context left. Two bare contexts become one, whatever the
// floor knows: leaves are equal then.
Difference bare_difference_of(const CausalContext& listed, const OwnKey* own, const SourceClaims& source,
                              const std::function<bool(const Dot&)>& is_under_own_floor);

// Which of the own versions the source's claims tell to be gone, given what it lists.
std::vector<Dot> gone_dots(const OwnKey& own, const std::vector<Dot>& listed, const SourceClaims& source);

// The floor that goes with a record of the source to the own replica: the source's, with entries for those of
// `gone` that only a closed life covers. (A closed life as a whole would end up in contexts for ever.)
std::shared_ptr<const Floor> floor_for(const std::vector<Dot>& gone,
                                       const std::shared_ptr<const Floor>& source);

// A context of a record without versions that lets go of just these.
CausalContext context_over(const std::vector<Dot>& gone, const OwnKey& own);

// True where nothing but whole keys may be lacking here of a leaf so small that the source can tell which by
// the hash of this node's leaf (storage/hash_subset.h). With both exchanged: where this node may tell what
// the source hasn't.
bool may_lack_keys_only(const Leaf& own, const Leaf& theirs);

// True where the source's records of a leaf are sent at once, not only their keys and dots: it is small, or
// nothing of it is here. Not where both sides count the same: then they may differ only by tombstones, which
// needn't travel when this node has let them go under its floor.
bool wants_records(const Leaf& own, const Leaf& theirs);

}  // namespace ringkv
