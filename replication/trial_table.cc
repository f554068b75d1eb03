#include "replication/trial_table.h"

#include <algorithm>
#include <utility>

namespace ringkv {
namespace {

constexpr int64_t kOwnedDivisor = 32;

// (units)^2 / target in units is 16 times the figure in copies: hence 2^28 for kImbalanceOne = 2^32. The cap
// keeps 64 bits enough, and only binds for targets under 16 copies.
int64_t factor_for(int64_t target) {
  return std::min<int64_t>((int64_t{1} << 28) / std::max<int64_t>(target, 1), int64_t{1} << 20);
}

// How much of `growth` lies above zero, where `over` is reached already.
int64_t growth_above_zero(int64_t over, int64_t growth) {
  return std::max<int64_t>(0, over + growth) - std::max<int64_t>(0, over);
}

std::vector<bool> nodes_on_ring(const std::vector<uint32_t>& owners, size_t nodes) {
  std::vector<bool> on_ring(nodes, false);
  for (const uint32_t owner : owners) {
    if (owner != TrialTable::kNobody) on_ring[owner] = true;
  }
  return on_ring;
}

bool contains(const uint32_t* list, size_t size, uint32_t node) {
  return std::find(list, list + size, node) != list + size;
}

}  // namespace

TrialTable::TrialTable(Shape shape, std::vector<uint32_t> owners)
    : shape_(std::move(shape)),
      list_before_size_(shape_.lists_before.size() / owners.size()),
      owners_(std::move(owners)),
      rounds_({.rack_of = shape_.rack_of, .on_ring = nodes_on_ring(owners_, shape_.rack_of.size())},
              shape_.targets.copies),
      list_size_(rounds_.list_size()),
      lists_(owners_.size() * list_size_),
      walk_steps_(owners_.size()),
      load_(shape_.rack_of.size(), 0),
      owned_(shape_.rack_of.size(), 0),
      newly_(shape_.rack_of.size(), 0),
      gains_(shape_.rack_of.size()) {
  for (const uint32_t owner : owners_) {
    if (owner != kNobody) ++owned_[owner];
  }
  for (const int64_t allowance : shape_.allowances) newly_beyond_all_ -= allowance;
  for (size_t partition = 0; partition < owners_.size(); ++partition) {
    walk_steps_[partition] = static_cast<uint32_t>(
        rounds_.walk(partition, owners_.size(), [this](size_t place) { return owners_[place]; }));
    std::copy(rounds_.list().begin(), rounds_.list().end(), lists_.begin() + partition * list_size_);
    for (const uint32_t node : rounds_.list()) {
      ++load_[node];
      const bool newly = !held_before(partition, node);
      newly_[node] += newly ? 1 : 0;
      newly_beyond_all_ += newly ? 1 : 0;
    }
  }
}

bool TrialTable::allows(Change change) const {
  const uint32_t old = owners_[change.partition];
  return old != change.owner && owned_[change.owner] > 0 && (old == kNobody || owned_[old] > 1);
}

// Calls `visit` for each partition whose walk reaches `partition`, its new list standing in rounds_.
template <class Visit>
void TrialTable::walk_again(uint32_t partition, Visit visit) {
  size_t start = partition;
  for (size_t back = 0; back < owners_.size() && back < walk_steps_[start]; ++back) {
    const size_t steps = rounds_.walk(start, owners_.size(), [this](size_t place) { return owners_[place]; });
    visit(start, steps);
    start = (start == 0 ? owners_.size() : start) - 1;
  }
}

bool TrialTable::held_before(size_t partition, uint32_t node) const {
  return contains(shape_.lists_before.data() + partition * list_before_size_, list_before_size_, node);
}

void TrialTable::gain(size_t partition, uint32_t node, int copies) {
  touched_.push_back(node);
  gains_[node].copies += copies;
  if (!held_before(partition, node)) gains_[node].newly += copies;
}

// How the list in rounds_ differs from the one that the partition has.
void TrialTable::add_difference(size_t partition) {
  const uint32_t* now = lists_.data() + partition * list_size_;
  const std::span<const uint32_t> next = rounds_.list();
  for (const uint32_t node : next) {
    if (!contains(now, list_size_, node)) gain(partition, node, 1);
  }
  for (size_t i = 0; i < list_size_; ++i) {
    if (!contains(next.data(), next.size(), now[i])) gain(partition, now[i], -1);
  }
}

int64_t TrialTable::imbalance_growth(uint32_t node, int64_t copies) const {
  const int64_t change = copies * kLoadUnitsPerCopy;
  return factor_for(target(node)) * change * (2 * excess(node) + change);
}

// Little beside load, with which it mostly goes. It decides where load doesn't: where the rack rule gives a
// node a copy of everything.
int64_t TrialTable::owned_imbalance_growth(uint32_t node, int64_t partitions) const {
  const int64_t wanted = target(node) / shape_.targets.copies;
  const int64_t change = partitions * kLoadUnitsPerCopy;
  return factor_for(wanted) / kOwnedDivisor * change *
         (2 * (owned_[node] * kLoadUnitsPerCopy - wanted) + change);
}

TrialTable::Effect TrialTable::effect_of(Change change) {
  const uint32_t old = std::exchange(owners_[change.partition], change.owner);
  walk_again(change.partition, [this](size_t partition, size_t) { add_difference(partition); });
  owners_[change.partition] = old;

  Effect effect;
  effect.gained = gains_[change.owner].copies;
  for (const uint32_t node : touched_) {
    const Gain gain = std::exchange(gains_[node], {});  // a node touched twice adds nothing the second time
    effect.imbalance += imbalance_growth(node, gain.copies);
    effect.needless += growth_above_zero(newly_[node] - shape_.allowances[node], gain.newly);
    effect.moved += gain.newly;
  }
  touched_.clear();
  effect.needless += growth_above_zero(newly_beyond_all_, effect.moved);
  effect.imbalance += owned_imbalance_growth(change.owner, 1);
  if (old != kNobody) effect.imbalance += owned_imbalance_growth(old, -1);
  return effect;
}

void TrialTable::apply(Change change) {
  const uint32_t old = std::exchange(owners_[change.partition], change.owner);
  ++owned_[change.owner];
  if (old != kNobody) --owned_[old];
  walk_again(change.partition, [this](size_t partition, size_t steps) {
    add_difference(partition);
    walk_steps_[partition] = static_cast<uint32_t>(steps);
    std::copy(rounds_.list().begin(), rounds_.list().end(), lists_.begin() + partition * list_size_);
  });
  for (const uint32_t node : touched_) {
    const Gain gain = std::exchange(gains_[node], {});
    load_[node] += gain.copies;
    newly_[node] += gain.newly;
    newly_beyond_all_ += gain.newly;
  }
  touched_.clear();
}

}  // namespace ringkv
