// The end of a complete round of rounds: every node knows that it holds what all others hold.
#pragma once

#include "tests/replication/cluster_fixture.h"

namespace ringkv {

// True only where the nodes' copies are equal; those of `without` neither tell nor hear.
inline void raise_floors_of_equal_copies(ClusterFixture& cluster, const std::set<uint64_t>& without = {}) {
  for (const auto& node : cluster.nodes) {
    for (const auto& source : cluster.nodes) {
      if (without.contains(node->id.value) || without.contains(source->id.value)) continue;
      for (Partition partition = 0; partition < kTestPartitions; ++partition) {
        const RecordStore& store = *source->fixture.store;
        node->fixture.store->raise_floor(partition, store.floor(partition), store.erased(partition));
      }
      node->environment->floors_raised = true;
    }
  }
  cluster.run();
}

}  // namespace ringkv
