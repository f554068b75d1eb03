// The faults that `kvsim --plant` knows, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/plants.h"
#include "ringkv/status.h"

namespace ringkv::simulation {

struct NamedPlant {
  std::string_view name;
  Plant plant;
  std::string_view what;       // is done wrong
  bool found_by_seeds = true;  // and so `--plant list` names it
};

std::span<const NamedPlant> named_plants();

// INVALID_ARGUMENT names the nearest.
Result<Plant> plant_from(std::string_view name);

// For all runs of this process, before the first; what is linked with ringkv_planted does it from then on.
void sow(Plant plant);

}  // namespace ringkv::simulation
