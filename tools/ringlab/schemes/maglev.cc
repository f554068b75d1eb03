#include "tools/ringlab/schemes/maglev.h"

#include <algorithm>

namespace ringkv::ringlab {
namespace {

constexpr uint16_t kFree = 0xFFFF;

// The entries in a node's order of preference: offset, offset + skip, and so on, modulo the table's size.
struct Permutation {
  uint32_t next = 0;
  uint32_t skip = 1;
  double turns_due = 0;

  uint32_t take() {
    const uint32_t entry = next;
    next = (next + skip) % Maglev::kTableSize;
    return entry;
  }
};

void claim_next(std::vector<uint16_t>& table, Permutation& permutation, uint16_t node) {
  uint32_t entry = permutation.take();
  while (table[entry] != kFree) entry = permutation.take();
  table[entry] = node;
}

}  // namespace

Status Maglev::become(const std::vector<LabNode>& nodes) {
  nodes_ = nodes;
  double heaviest = 0;
  std::vector<Permutation> permutations;
  for (const LabNode& node : nodes) {
    heaviest = std::max(heaviest, node.weight);
    // Two hash functions of the name: the second is the first of the name with a tail.
    permutations.push_back(
        {.next = static_cast<uint32_t>(hash_(node.name) % kTableSize),
         .skip = static_cast<uint32_t>(hash_(node.name + "#skip") % (kTableSize - 1)) + 1});
  }
  table_.assign(kTableSize, kFree);
  uint32_t claimed = 0;
  while (claimed < kTableSize) {
    for (size_t i = 0; i < nodes.size() && claimed < kTableSize; ++i) {
      // Weights are frequencies of turns (section 3.4); the heaviest node takes each.
      permutations[i].turns_due += nodes[i].weight / heaviest;
      if (permutations[i].turns_due < 1) continue;
      permutations[i].turns_due -= 1;
      claim_next(table_, permutations[i], static_cast<uint16_t>(i));
      ++claimed;
    }
  }
  return {};
}

std::vector<uint32_t> Maglev::owners(const KeySet& keys) const {
  return owners_by_hash(keys, [&](uint64_t hash) { return nodes_[table_[hash % kTableSize]].number; });
}

}  // namespace ringkv::ringlab
