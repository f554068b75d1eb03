#include "tools/ringlab/experiment.h"

namespace ringkv::ringlab {

void Progress::step(const std::string& what) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::seconds(1)) return;
  last_ = now;
  out_ << "ringlab: " << what << std::endl;
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      {"movements", "Eight shards: modulo against ring, a hot key, one shard more, one less",
       "ringlab movements --plot movements.svg", &run_movements},
      {"remap", "Share of the keys that moves when one node joins or leaves", "ringlab remap --vnodes 500",
       &run_remap},
      {"spread", "How even a ring is with few and with many virtual nodes",
       "ringlab spread --nodes 16 --json", &run_spread},
      {"compare", "All schemes at 10, 100 and 1000 nodes, with and without weights",
       "ringlab compare --nodes 100", &run_compare},
      {"lookup", "What finding a key's node costs a client: time and memory", "ringlab lookup --vnodes 1000",
       &run_lookup},
      {"bounded", "Consistent hashing with bounded loads: load, spill, movement",
       "ringlab bounded --nodes 20", &run_bounded},
      {"racks", "Whether every list of replicas is on as many racks as it can be", "ringlab racks --nodes 7",
       &run_racks},
  };
  return all;
}

}  // namespace ringkv::ringlab
