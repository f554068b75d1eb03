// All schemes by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

struct SchemeEntry {
  std::string name;

  // A change moves keys to the newcomer or from the leaver, and no others.
  bool sound = false;
  std::function<std::unique_ptr<Scheme>()> make;
};

struct SchemeShape {
  uint32_t virtual_nodes = 150;
  double bound = 1.25;  // of bounded loads
};

std::vector<SchemeEntry> scheme_catalogue(const SchemeShape& shape, const Hash& hash);

}  // namespace ringkv::ringlab
