// A way of mapping keys to nodes. A scheme that knows no weights ignores them, which the measured load then
// shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ringkv/status.h"
#include "tools/ringlab/keys.h"

namespace ringkv::ringlab {

struct LabNode {
  uint32_t number = 0;  // its own for good, whoever comes and goes
  std::string name;
  double weight = 1;

  friend bool operator==(const LabNode&, const LabNode&) = default;
};

// Nodes numbered from 0, named prefix + (first + number).
std::vector<LabNode> numbered_nodes(const std::string& prefix, uint32_t count, uint32_t first = 1);

class Scheme {
 public:
  virtual ~Scheme() = default;

  // The first call founds, later ones change what is there; in order of number, and never empty.
  // INVALID_ARGUMENT, and nothing changed: the scheme can't express this change; the message says why.
  virtual Status become(const std::vector<LabNode>& nodes) = 0;

  // By key, the number of the node that has it.
  virtual std::vector<uint32_t> owners(const KeySet& keys) const = 0;

  // What a client must hold in order to find nodes by itself, names apart.
  virtual size_t state_bytes() const = 0;
};

template <class NodeOf>
std::vector<uint32_t> owners_by_hash(const KeySet& keys, NodeOf node_of) {
  std::vector<uint32_t> owners(keys.size());
  for (size_t key = 0; key < keys.size(); ++key) owners[key] = node_of(keys.hashes[key]);
  return owners;
}

}  // namespace ringkv::ringlab
