// What a record that arrives does to the one that is held: the decision of a merge before the merge, from
// heads as far as they tell, so that values are read only where siblings of our own may stay. Pure.
#pragma once

#include <cstdint>

#include "storage/record_codec.h"

namespace ringkv {

enum class ArrivalEffect : uint8_t {
  kNothingNew,        // what is held stays as it is
  kReplacesAll,       // the arriving record, as it came, is the merge
  kLeavesNoneOfOurs,  // the merge has only versions that arrived; the contexts must be joined
  kNeedsOurs,         // versions of our own may stay: their values must be known
};

ArrivalEffect effect_of(const RecordOutline& arriving, const RecordHead& held, Conflict conflict,
                        Source source);

// The merge where none of our versions stays that did not arrive as well.
Record merge_over(const RecordHead& held, Record arriving, Conflict conflict, Source source);

// The merge of both; a version that is held keeps how it came here.
Record merge_with(const Record& held, Record arriving, Conflict conflict, Source source);

}  // namespace ringkv
