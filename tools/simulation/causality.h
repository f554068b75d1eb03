// What must be seen, and what may have replaced what, over the writes of one key. No history tells all: a
// blind put replaces what its coordinator held, and which owners hold a write is known only from receipts and
// answers. So there are two kinds of rules, each safe for its use: "must" is never true of what may be
// otherwise, "may" never false.
#pragma once

#include <map>
#include <vector>

#include "tools/simulation/disk_losses.h"
#include "tools/simulation/key_history.h"

namespace ringkv::simulation {

class Causality {
 public:
  // All are borrowed.
  Causality(const KeyHistory& history, const RingFacts& ring, const DiskLosses& losses);

  // Whoever asked these owners has met one that held the write (R + W > N), or something that had replaced
  // it. A power cut may take from each holder what it had only buffered.
  bool must_include(const Write& write, const Look& look) const;

  // A write that replaced this one: a record in which it is included doesn't show `write`.
  bool has_replaced(const Write& later, const Write& write) const;
  const std::vector<const Write*>& replacers(const Write& write) const { return replacers_.at(&write); }

  bool may_have_replaced(const Write& later, const Write& write) const;

 private:
  bool is_safe(const Held& held, const Look& look) const;

  const KeyHistory& history_;
  const RingFacts& ring_;
  const DiskLosses& losses_;
  std::map<const Write*, std::vector<const Write*>> replacers_;
};

}  // namespace ringkv::simulation
