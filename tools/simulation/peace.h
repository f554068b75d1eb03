// The end of a run in safety mode: all faults have stopped, and then all must converge, and rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/simulation/simulated_ring.h"

namespace ringkv::simulation {

class Peace {
 public:
  explicit Peace(SimulatedRing& ring) : ring_(ring) {}

  // Makes peace, and notes what doesn't come of it.
  void demand();

 private:
  void converge();
  bool is_anybody_asking() const;
  void accept_losses();
  void cancel_hopeless_change();
  std::optional<Violation> what_is_lacking(uint64_t expires_within_ms) const;
  std::optional<Violation> what_is_lacking(const SimulatedNode& node) const;
  std::optional<Violation> what_is_wrong_outside(const SimulatedNode& node) const;
  static std::string blocking(const SimulatedNode& node);
  std::optional<Violation> change_under_way(const SimulatedNode& node, const RingDescription& ring) const;
  bool waits_for_gone(const Member& leaver) const;
  std::string readiness() const;
  Statistics convergence_figures() const;
  void check_at_rest(const Statistics& converged);
  size_t connections_max() const;

  SimulatedRing& ring_;
};

}  // namespace ringkv::simulation
