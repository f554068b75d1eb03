// Which of the given nodes serves what isn't routed: they are tried in order, each for the connect time-out,
// with pauses between rounds in which none served.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "node/client_node.h"

namespace ringkv {

class ClientHome {
 public:
  // `given` isn't empty.
  ClientHome(std::vector<ClientNode*> given, Random& random);

  // Somebody waits for a node: starts a round, or has one started when the pause since the last has ended.
  void want(Time now);

  void on_served(const ClientNode& node);
  // Of a node that has no connection left, serving or tried.
  void on_failed(const ClientNode& node, const std::string& why, Time now);
  // It no longer serves. Tried again first, unless it had gone silent.
  void on_lost(const ClientNode& node, bool silent, Time now);

  bool serving() const { return phase_ == Phase::kServing; }
  bool round_failed() const { return phase_ == Phase::kPausing && !last_round_.empty(); }
  ClientNode& node() const { return *given_[at_]; }  // that serves, or is tried

  // Each node with the reason why it didn't serve in the last round.
  std::string failures() const;

 private:
  enum class Phase : uint8_t { kIdle, kPausing, kTrying, kServing };

  void start_round(Time now);
  void try_node(Time now);
  void serve(size_t at);

  const std::vector<ClientNode*> given_;
  Random& random_;

  Phase phase_ = Phase::kIdle;
  size_t at_ = 0;
  size_t tried_ = 0;                // in this round
  Time until_{};                    // of the pause
  Duration pause_;                  // after the next failed round
  std::vector<std::string> round_;  // failures of this round
  std::vector<std::string> last_round_;
};

}  // namespace ringkv
