// What must be seen, and what may have replaced what, over the writes of one key. No history tells all: a
// blind put replaces what its coordinator held, and which owners hold a write is known only from receipts and
// answers. So there are two kinds of rules, each safe for its use: "must" is never true of what may be
// otherwise, "may" never false.
#pragma once

#include <map>
#include <vector>

#include "tools/simulation/calendar.h"
#include "tools/simulation/disk_losses.h"
#include "tools/simulation/key_history.h"

namespace ringkv::simulation {

class Causality {
 public:
  // All are borrowed.
  Causality(const KeyHistory& history, const RingFacts& ring, const DiskLosses& losses,
            const Calendar& calendar);

  // Whoever asked these owners has met one that held the write (R + W > N), or something that had replaced
  // it. A power cut may take from each holder what it had only buffered. Who has lost a disk fetches what the
  // other owners hold before it counts again; so one must be left that holds the write. Once everything has
  // converged one is enough, also if it only held a hint.
  bool must_include(const Write& write, const Look& look) const;

  // By expiry, as this look may, or must have, taken it.
  bool may_have_expired(const Write& write, const Look& look) const;
  bool must_have_expired(const Write& write, const Look& look) const;

  // The context doesn't cover it, and it isn't of a life that is closed: those needn't be listed.
  bool surely_lacks(const CausalContext& context, const Dot& dot) const;

  // A write that replaced this one: a record in which it is included doesn't show `write`.
  bool has_replaced(const Write& later, const Write& write) const;
  const std::vector<const Write*>& replacers(const Write& write) const { return replacers_.at(&write); }

  bool may_have_replaced(const Write& later, const Write& write) const;

 private:
  bool was_surely_stamped_before(const Write& earlier, const Write& write) const;
  enum class Keeps : uint8_t { kYes, kFetchesAgain, kMaybeNot };
  Keeps keeps(const Held& held, const Look& look) const;
  bool stayed_owner(const Held& held, const Look& look) const;
  bool owners_rested(const Held& held, const Look& look) const;
  bool held_by_a_quorum(const std::vector<std::string_view>& holders, Step known) const;
  bool must_include_once_healed(const Write& write, const Look& look) const;
  bool must_include_by_count(const Held& held, const Look& look) const;

  const KeyHistory& history_;
  const RingFacts& ring_;
  const DiskLosses& losses_;
  const Calendar& calendar_;
  std::map<const Write*, std::vector<const Write*>> replacers_;
};

}  // namespace ringkv::simulation
