#include "tools/simulation/causality.h"

#include <algorithm>

namespace ringkv::simulation {

Causality::Causality(const KeyHistory& history, const RingFacts& ring, const DiskLosses& losses)
    : history_(history), ring_(ring), losses_(losses) {
  for (const Write& write : history_.writes) {
    std::vector<const Write*>& replacers = replacers_[&write];
    for (const Write& later : history_.writes) {
      if (later.known != kNever && has_replaced(later, write)) replacers.push_back(&later);
    }
    std::sort(replacers.begin(), replacers.end(),
              [](const Write* a, const Write* b) { return a->known < b->known; });
  }
}

bool Causality::is_safe(const Held& held, const Look& look) const {
  return held.synced || !losses_.may_have_lost(held.node, held.written, look.completed);
}

bool Causality::must_include(const Write& write, const Look& look) const {
  std::vector<std::string_view> holders;
  for (const Held& held : write.held) {
    if (held.written.known >= look.invoked) continue;
    if (!look.node.empty()) {
      if (held.node == look.node && is_safe(held, look)) return true;
    } else if (!held.node.empty()) {
      const bool known = std::find(holders.begin(), holders.end(), held.node) != holders.end();
      if (!known && is_safe(held, look)) holders.push_back(held.node);
    } else {
      const uint32_t lost = held.synced ? 0 : losses_.nodes_that_may_have_lost(held.written, look.completed);
      if (held.owners + look.read_quorum > ring_.copies + lost) return true;
    }
  }
  return look.node.empty() && holders.size() + look.read_quorum > ring_.copies;
}

bool Causality::has_replaced(const Write& later, const Write& write) const {
  if (&later == &write) return false;
  if (later.seen_values.contains(write.value) && !write.is_delete) return true;
  const std::optional<Dot> dot = write.dot();
  if (dot) {
    if (later.context && later.context->covers(*dot)) return true;
    // Beside a blind put nothing stays of what its coordinator held, nor beside a winner.
    const bool alone = later.left_alone || later.is_blind() || history_.last_writer_wins;
    if (alone && later.left && later.left->covers(*dot)) return true;
  }
  return later.reads_first && later.known != kNever &&
         must_include(write,
                      {.invoked = later.invoked, .completed = later.known, .read_quorum = ring_.quorum()});
}

bool Causality::may_have_replaced(const Write& later, const Write& write) const {
  if (&later == &write || later.failed) return false;
  const std::optional<Dot> dot = write.dot();
  if (history_.last_writer_wins) {
    // A concurrent one may win by its time; one that this write follows can't.
    return !later.dot() || !write.left || !write.left->covers(*later.dot());
  }
  if (later.known < write.invoked) return false;  // it was there before
  if (!dot) return true;
  if (later.context) return later.context->covers(*dot);
  return !later.left || later.left->covers(*dot);
}

}  // namespace ringkv::simulation
