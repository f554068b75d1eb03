// Finds a node that serves: tries the given ones in order, each for the connect time-out, greets, and waits
// between rounds in which none did. No I/O of its own: ClientSession hands it what concerns it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "base/transport.h"
#include "node/wire_codec.h"
#include "ringkv/client.h"

namespace ringkv {

class ClientDialer {
 public:
  enum class Event { kNothing, kServing, kRoundFailed };

  // `client`: of its operation ids.
  ClientDialer(ClientOptions options, Transport& transport, Random& random, uint64_t client);

  // Somebody waits for a node: starts a round, or has one started when the pause since the last has ended.
  void want(Time now);

  // Only for the connection() of this moment.
  void on_connected(WireCodec& codec);
  Event on_greeting(const Frame& frame, WireCodec& codec, Time now);  // the first frame of a connection
  Event on_closed(const Status& why, Time now);                       // while it isn't serving
  Event on_tick(Time now);

  // The node that served is lost. Tried again first, unless it has gone silent.
  void lose(bool silent, Time now);

  bool serving() const { return phase_ == Phase::kServing; }
  ConnectionId connection() const { return connection_; }  // 0: none
  const std::string& node() const { return options_.nodes[node_]; }
  const Welcome& welcome() const { return welcome_; }  // of the node that serves, or served last

  // Each node with the reason why it didn't serve in the last round.
  std::string failures() const;

 private:
  enum class Phase { kIdle, kPausing, kTrying, kServing };

  void start_round(Time now);
  void try_node(Time now);
  Event fail_node(const std::string& why, Time now);
  Status check(const Welcome& welcome) const;

  const ClientOptions options_;
  Transport& transport_;
  Random& random_;
  const uint64_t client_;

  Phase phase_ = Phase::kIdle;
  size_t node_ = 0;
  ConnectionId connection_ = 0;
  size_t tried_ = 0;                // in this round
  Time until_{};                    // of the try, or of the pause
  Duration pause_{};                // after the next failed round
  std::vector<std::string> round_;  // failures of this round
  std::vector<std::string> last_round_;
  Welcome welcome_;
};

}  // namespace ringkv
