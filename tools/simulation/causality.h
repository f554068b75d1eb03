// What must be seen, and what may have replaced what, over the writes of one key. No history tells all: a
// blind put replaces what its coordinator held, and which owners hold a write is known only from receipts and
// answers. So there are two kinds of rules, each safe for its use: "must" is never true of what may be
// otherwise, "may" never false.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tools/simulation/calendar.h"
#include "tools/simulation/disk_losses.h"
#include "tools/simulation/key_history.h"
#include "tools/simulation/ring_history.h"

namespace ringkv::simulation {

class Causality {
 public:
  // All are borrowed.
  Causality(const KeyHistory& history, const RingFacts& ring, const DiskLosses& losses,
            const Calendar& calendar);

  // Whoever asked these owners has met one that held the write (R + W > N), or something that had replaced
  // it. A power cut may take from each holder what it had only buffered. Who has lost a disk fetches what the
  // other owners hold before it counts again; so enough must be left that hold the write. Once everything has
  // converged one is enough, also if it only held a hint.
  //
  // N may change, and with it the owners. Whoever takes a key over, or stays where its list grows shorter,
  // has heard max(N - w + 1, r) owners of the list before: at least one of a write quorum, and of those that
  // a get was confirmed by. So those of a list that don't hold such a write don't grow more by a change; they
  // are fewer than a read quorum of any later list. Of a write that fewer hold nothing is owed after a
  // change.
  bool must_include(const Write& write, const Look& look) const;

  // By expiry, as this look may, or must have, taken it.
  bool may_have_expired(const Write& write, const Look& look) const;
  bool must_have_expired(const Write& write, const Look& look) const;

  // The context doesn't cover it, and it isn't of a life that is closed: those needn't be listed.
  bool surely_lacks(const CausalContext& context, const Dot& dot) const;

  // The same, where the dot may be unknown.
  bool surely_lacks(const CausalContext& context, const Write& write) const;

  // A power cut or the loss of a disk may have taken from some node what it held at that step.
  bool may_have_lost_since(Step step, const Look& look) const;

  // A write that replaced this one: a record in which it is included doesn't show `write`.
  bool has_replaced(const Write& later, const Write& write) const;
  const std::vector<const Write*>& replacers(const Write& write) const { return replacers_.at(&write); }

  bool may_have_replaced(const Write& later, const Write& write) const;

 private:
  bool must_include_now(const Write& write, const Look& look) const;
  uint32_t situation_of(const Look& look) const;
  bool was_surely_stamped_before(const Write& earlier, const Write& write) const;
  enum class Keeps : uint8_t { kYes, kFetchesAgain, kMaybeNot };
  Keeps keeps(const Held& held, const Look& look) const;
  // Of nodes that are known to hold a write: how each keeps it, and when all of that was known.
  struct Holders {
    std::map<std::string_view, Keeps> found;
    Step first_known = kNever;
    Step last_known = 0;
  };
  Holders holders_of(const Write& write, const Look& look) const;
  std::vector<std::string_view> that_keep(const Holders& holders, Keeps how) const;
  bool holders_suffice(const Holders& holders, const Look& look) const;
  bool holds_by_itself(const Write& write, const Look& look) const;
  bool stayed_owner(std::string_view node, Step from, const Look& look) const;
  bool owners_rested(Step from, const Look& look) const;
  uint32_t copies_at(const Look& look) const;
  bool asks_quorum_of_any_list(const Look& look) const;
  bool was_confirmed_by_quorum(const Held& held) const;
  bool must_include_once_healed(const Write& write, const Look& look) const;
  bool must_include_by_count(const Held& held, const Look& look) const;

  const KeyHistory& history_;
  const RingFacts& ring_;
  const DiskLosses& losses_;
  const Calendar& calendar_;
  std::map<const Write*, std::vector<const Write*>> replacers_;

  // Checkers ask for each write and each look; most looks differ in nothing that matters. Numbers of what
  // does matter, by it and by the look's first step; and of each write when all was known of who holds it,
  // and the last answer.
  using Situation = std::tuple<DiskLosses::Situation, RingHistory::Situation, uint32_t, bool>;
  struct Answer {
    Step holders_known = 0;
    uint32_t situation = 0;
    bool included = false;
  };
  mutable std::map<Situation, uint32_t> situations_;
  mutable std::unordered_map<Step, uint32_t> situation_of_look_;
  mutable std::unordered_map<const Write*, Answer> answers_;
};

}  // namespace ringkv::simulation
