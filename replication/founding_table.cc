#include "replication/founding_table.h"

#include <algorithm>

namespace ringkv {
namespace {

// Takers take turns in proportion to their shares: each turn everyone earns its share, the richest is taken
// and pays the sum.
class Turns {
 public:
  explicit Turns(std::vector<int64_t> shares) : shares_(std::move(shares)), credits_(shares_.size(), 0) {
    for (const int64_t share : shares_) sum_ += share;
  }

  int64_t sum() const { return sum_; }

  // `favour(taker)` is added to a taker's credit for this turn only.
  template <class Favour>
  size_t take(Favour favour) {
    size_t richest = 0;
    int64_t most = INT64_MIN;
    for (size_t taker = 0; taker < shares_.size(); ++taker) {
      credits_[taker] += shares_[taker];
      const int64_t credit = credits_[taker] + favour(taker);
      if (shares_[taker] == 0 || credit <= most) continue;
      most = credit;
      richest = taker;
    }
    credits_[richest] -= sum_;
    return richest;
  }

 private:
  std::vector<int64_t> shares_;
  std::vector<int64_t> credits_;
  int64_t sum_ = 0;
};

// Steele and others' SplitMix64 (2014): well mixed bits from a counter.
uint64_t mixed(uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ value >> 27) * 0x94D049BB133111EBULL;
  return value ^ value >> 31;
}

}  // namespace

std::vector<uint32_t> founding_table(const std::vector<uint32_t>& rack_of, const TargetLoads& targets,
                                     uint32_t partitions) {
  std::vector<int64_t> rack_shares(*std::max_element(rack_of.begin(), rack_of.end()) + 1, 0);
  std::vector<std::vector<uint32_t>> nodes(rack_shares.size());
  std::vector<std::vector<int64_t>> node_shares(rack_shares.size());
  for (uint32_t node = 0; node < rack_of.size(); ++node) {
    const int64_t share = std::max<int64_t>(1, targets.load[node]);
    rack_shares[rack_of[node]] += share;
    nodes[rack_of[node]].push_back(node);
    node_shares[rack_of[node]].push_back(share);
  }
  Turns racks(std::move(rack_shares));
  std::vector<Turns> within;
  for (std::vector<int64_t>& shares : node_shares) within.emplace_back(std::move(shares));

  std::vector<uint32_t> owners(partitions);
  for (uint32_t partition = 0; partition < partitions; ++partition) {
    const size_t rack = racks.take([](size_t) { return int64_t{0}; });
    // Strict turns would pair each node with the same few neighbours, and a node's data could be restored
    // from those few only. So turns within a rack are shuffled, by less than half a round.
    const auto shuffle = [&](size_t taker) {
      const uint64_t bits = mixed(uint64_t{partition} << 16 | taker);
      return static_cast<int64_t>(bits % static_cast<uint64_t>(within[rack].sum() / 2 + 1));
    };
    owners[partition] = nodes[rack][within[rack].take(shuffle)];
  }
  return owners;
}

}  // namespace ringkv
