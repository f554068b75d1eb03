#include "tools/simulation/key_checker.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace ringkv::simulation {

KeyChecker::KeyChecker(const KeyHistory& history, const RingFacts& ring, const DiskLosses& losses,
                       const Calendar& calendar)
    : history_(history), causality_(history, ring, losses, calendar) {
  for (const Write& write : history_.writes) {
    if (!write.is_delete) by_value_[write.value] = &write;
  }
}

std::optional<Violation> KeyChecker::check() {
  check_dots();
  check_own_writes();
  for (const Reading& reading : history_.readings) {
    if (violation_) return violation_;
    if (!reading.values) continue;
    check_values(reading);
    check_nothing_came_back(reading);
    check_nothing_is_missing(reading);
  }
  check_nothing_was_undone();
  return violation_;
}

void KeyChecker::broken(std::string_view invariant, const std::string& what) {
  if (!violation_) violation_ = Violation{std::string(invariant), cat(history_.name(), ": ", what)};
}

// I4, and that a write was stamped once.
void KeyChecker::check_dots() {
  std::map<Dot, const Write*> stamped;
  for (const Write& write : history_.writes) {
    if (write.dots.size() > 1) broken("I5", cat(name_of(write.index), " was applied twice"));
    for (const Dot& dot : write.dots) {
      const auto [at, is_new] = stamped.emplace(dot, &write);
      if (!is_new)
        broken("I4", cat("one dot names ", name_of(at->second->index), " and ", name_of(write.index)));
    }
  }
  for (const Reading& reading : history_.readings) {
    std::set<std::string> values;
    std::set<Dot> dots;
    for (const auto& [dot, value] : reading.versions) {
      if (!dots.insert(dot).second) broken("I4", cat(name_of(reading.index), " shows one dot twice"));
      if (!values.insert(value).second) broken("I5", cat(name_of(reading.index), " shows one write twice"));
    }
  }
}

// Part of I3: a client's blind write follows those that it had been acknowledged before, whatever
// coordinators they went through.
void KeyChecker::check_own_writes() {
  for (const Write& write : history_.writes) {
    if (!write.is_blind() || write.left_told == kNever) continue;
    for (const Write& earlier : history_.writes) {
      if (earlier.client != write.client || earlier.left_told > write.invoked || !earlier.dot()) continue;
      if (causality_.surely_lacks(*write.left, *earlier.dot())) {
        broken("I3",
               cat(name_of(write.index), " doesn't follow ", name_of(earlier.index), " of the same client"));
      }
    }
  }
}

// I6; I5: what failed never appears; I3: of winners there is one; and what has expired is shown by no more
// than a look at one copy.
void KeyChecker::check_values(const Reading& reading) {
  if (history_.last_writer_wins && reading.values->size() > 1)
    broken("I3", cat(name_of(reading.index), " shows ", reading.values->size(), " winners"));
  for (const std::string& value : *reading.values) {
    const auto write = by_value_.find(value);
    if (write == by_value_.end() || write->second->invoked > reading.look.completed) {
      broken("I6", cat(name_of(reading.index), " shows what nobody had written: '",
                       escaped(value.substr(0, 40)), "'"));
    } else if (write->second->failed) {
      broken("I5",
             cat(name_of(reading.index), " shows ", name_of(write->second->index), ", which had failed"));
    } else if (reading.look.node.empty() && causality_.must_have_expired(*write->second, reading.look)) {
      broken("expiry",
             cat(name_of(reading.index), " shows ", name_of(write->second->index), ", which had expired"));
    }
  }
}

// The record behind the answer has merged the write: its context says so, or an owner was asked that had.
bool KeyChecker::includes(const Reading& reading, const Write& write) const {
  if (reading.context && write.is_within(*reading.context)) return true;
  return causality_.must_include(write, reading.look);
}

// I2, I3: what was replaced stays away.
void KeyChecker::check_nothing_came_back(const Reading& reading) {
  for (const std::string& value : *reading.values) {
    const auto found = by_value_.find(value);
    if (found == by_value_.end()) continue;
    for (const Write* later : causality_.replacers(*found->second)) {
      if (!includes(reading, *later)) continue;
      broken(later->is_delete ? "I2" : "I3",
             cat(name_of(reading.index), " shows ", name_of(found->second->index), ", which ",
                 name_of(later->index), " had ", later->is_delete ? "deleted" : "replaced"));
    }
  }
}

// I2, I3, where nobody knows what has replaced a value (a write of unknown outcome, say): a confirmed answer
// whose context covers the value doesn't show it. So owners have merged what did that, and, where nothing was
// lost, all of them once everything has converged. (A former owner may show itself what it has still.)
void KeyChecker::check_nothing_was_undone() {
  for (const Write& write : history_.writes) {
    if (write.is_delete || write.ttl) continue;
    const Reading* gone = nullptr;
    for (const Reading& reading : history_.readings) {
      if (!reading.values || !reading.look.node.empty()) continue;
      const bool shown = reading.values->contains(write.value);
      if (shown && reading.look.healed && gone != nullptr &&
          !causality_.may_have_lost_since(gone->look.invoked, reading.look))
        broken(gone->values->empty() ? "I2" : "I3",
               cat(name_of(reading.index), " shows ", name_of(write.index), ", which was gone in ",
                   name_of(gone->index)));
      if (!shown && reading.confirmed && reading.context && write.is_within(*reading.context))
        gone = &reading;
    }
  }
}

// Something included is known to have replaced it: its turn comes by itself.
bool KeyChecker::is_discharged(const Write& write, const Reading& reading) const {
  const std::vector<const Write*>& replacers = causality_.replacers(write);
  return std::any_of(replacers.begin(), replacers.end(),
                     [&](const Write* later) { return includes(reading, *later); });
}

// The answer's context covers all that is in the record; what it doesn't cover was in one that a delete or an
// expiry has let go. But of a winner's context owners know more or less.
bool KeyChecker::was_let_go(const Reading& reading, const Write& write) const {
  return !history_.last_writer_wins && reading.context && write.dot() &&
         causality_.surely_lacks(*reading.context, *write.dot());
}

// The write is shown, or a delete, something that has expired, or something shown may have replaced it, over
// however many steps.
bool KeyChecker::is_accounted_for(const Write& write, const Reading& reading, bool let_go,
                                  Search& search) const {
  if (write.is_delete || causality_.may_have_expired(write, reading.look)) return true;
  if (!let_go && reading.values->contains(write.value)) return true;
  for (const Write& later : history_.writes) {
    if (later.invoked > reading.look.completed) break;
    if (!causality_.may_have_replaced(later, write)) continue;
    const bool later_let_go = let_go || was_let_go(reading, later);
    if (!(later_let_go ? search.visited_let_go : search.visited).insert(&later).second) continue;
    if (is_accounted_for(later, reading, later_let_go, search)) return true;
  }
  return false;
}

// I1, I3: what the owners that were asked must have held, and what the answer's context claims, is accounted
// for.
void KeyChecker::check_nothing_is_missing(const Reading& reading) {
  for (const Write& write : history_.writes) {
    if (write.invoked > reading.look.completed) return;
    if (write.failed) continue;
    const bool shown = !write.is_delete && reading.values->contains(write.value);
    const bool lacks =
        reading.context && write.dot() && causality_.surely_lacks(*reading.context, *write.dot());
    if (write.is_delete || (!lacks && (shown || is_discharged(write, reading)))) continue;
    const bool covered = reading.context && write.is_within(*reading.context);
    const bool expected = causality_.must_include(write, reading.look);
    if (!covered && !expected) continue;
    if (shown) {
      broken("I3", cat(name_of(reading.index), " shows ", name_of(write.index), " and doesn't cover it"));
      continue;
    }
    Search search;
    if (is_accounted_for(write, reading, was_let_go(reading, write), search)) continue;
    broken(expected ? "I1" : "I3", cat(name_of(reading.index), " lacks ", name_of(write.index),
                                       expected ? ", which its owners held" : ", which its context covers",
                                       " and which nothing replaced"));
  }
}

}  // namespace ringkv::simulation
