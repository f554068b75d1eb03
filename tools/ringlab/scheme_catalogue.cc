#include "tools/ringlab/scheme_catalogue.h"

#include "tools/ringlab/schemes/bounded_loads.h"
#include "tools/ringlab/schemes/hashed_ring.h"
#include "tools/ringlab/schemes/jump.h"
#include "tools/ringlab/schemes/ketama.h"
#include "tools/ringlab/schemes/maglev.h"
#include "tools/ringlab/schemes/modulo.h"
#include "tools/ringlab/schemes/partition_table.h"
#include "tools/ringlab/schemes/rendezvous.h"
#include "tools/ringlab/schemes/weighted_rendezvous.h"

namespace ringkv::ringlab {

std::vector<LabNode> numbered_nodes(const std::string& prefix, uint32_t count, uint32_t first) {
  std::vector<LabNode> nodes;
  for (uint32_t i = 0; i < count; ++i)
    nodes.push_back({.number = i, .name = prefix + std::to_string(first + i)});
  return nodes;
}

std::vector<SchemeEntry> scheme_catalogue(const SchemeShape& shape, const Hash& hash) {
  const uint32_t points = shape.virtual_nodes;
  const auto table = [points](PlacerKind placer) {
    return std::make_unique<PartitionTable>(PartitionTable::Shape{.placer = placer, .virtual_nodes = points});
  };
  return {
      {"modulo", false, [] { return std::make_unique<Modulo>(); }},
      {"ring", true, [=] { return std::make_unique<HashedRing>(points, hash); }},
      {"table-hashed", true, [=] { return table(PlacerKind::kHashed); }},
      {"table-balanced", true, [=] { return table(PlacerKind::kBalanced); }},
      {"rendezvous", true, [=] { return std::make_unique<Rendezvous>(hash); }},
      {"weighted-rendezvous", true, [=] { return std::make_unique<WeightedRendezvous>(hash); }},
      {"jump", true, [] { return std::make_unique<Jump>(); }},
      {"maglev", false, [=] { return std::make_unique<Maglev>(hash); }},
      {"ketama", true, [] { return std::make_unique<Ketama>(); }},
      {"bounded-loads", false, [=] { return std::make_unique<BoundedLoads>(shape.bound, points, hash); }},
  };
}

}  // namespace ringkv::ringlab
