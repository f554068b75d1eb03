// What a start was told about its own node, against what the ring says of it. The ring's holds: a label
// decides where copies lie, so that it changes by a plan and never by a flag.
#pragma once

#include <optional>
#include <string>

#include "base/ring_description.h"

namespace ringkv {

// Nothing: not told, and then the ring's is right.
struct LabelsGiven {
  std::optional<std::string> rack;
  std::optional<double> weight;
};

// INVALID_ARGUMENT names both labels and what to do. While a change is under way both what holds and what it
// leads to are right; who is no member is judged elsewhere.
Status check_labels(const LabelsGiven& given, const RingDescription& ring, NodeId self);

}  // namespace ringkv
