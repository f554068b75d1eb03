// One connection to another node, for what this node says on one channel: how far it is, and what waits for
// it. What waits is bounded; what has begun to leave is never cut. Who dials and when is PeerLinks' business.
//
// Loop thread.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <variant>

#include "base/random.h"
#include "base/time.h"
#include "base/transport.h"
#include "node/peer_codec.h"
#include "node/peer_message.h"

namespace ringkv {

// A link that holds more than this takes no further message. More than the largest, so that one of those
// alone has nothing behind it dropped.
inline constexpr size_t kLinkHeldBytesMax = size_t{96} << 20;
inline constexpr size_t kLinkWaitingMessagesMax = 10'000;

class PeerLink {
 public:
  struct Idle {};  // nobody has wanted it yet
  struct Pausing {
    Time until;
  };
  struct Dialing {
    ConnectionId connection = 0;  // 0: nobody is dialed, on purpose; it will look like silence
    Time by;
  };
  struct Greeting {
    ConnectionId connection = 0;
    Time by;
  };
  struct Up {
    ConnectionId connection = 0;
    Time since;
  };
  using State = std::variant<Idle, Pausing, Dialing, Greeting, Up>;

  bool is_idle() const { return std::holds_alternative<Idle>(state_); }
  bool is_up() const { return std::holds_alternative<Up>(state_); }
  bool is_greeting() const { return std::holds_alternative<Greeting>(state_); }
  bool is_pausing() const { return std::holds_alternative<Pausing>(state_); }
  // The last attempt failed, and none has succeeded since.
  bool is_failing() const { return failing_; }
  // What was sent before may not have come through.
  bool may_have_lost() const { return lost_ || failing_; }
  ConnectionId connection() const;  // 0: none

  bool wants_dial(Time now) const;  // its pause has ended
  bool is_overdue(Time now) const;  // dialed or greeted in vain

  void on_dialed(ConnectionId connection, Time now);
  void on_connected(Time now);
  void on_welcomed(Time now, Transport& transport);
  // True: to be dialed again at once; only when that fails is it failing.
  bool on_lost(Time now);
  // Pauses, longer each time; drops what waits. Returns how many messages.
  size_t on_failed(Time now, Random& random);
  size_t reset();  // as if nobody had wanted it; drops what waits

  // TOO_LARGE: it can't be sent at all. OVERLOADED: too much waits already.
  Status send(const PeerMessage& message, const SenderRing& ring, Time now, Duration delay, PeerCodec& codec,
              Transport& transport);
  void send_due(Time now, Transport& transport);

  // What it holds in memory: waiting here, or not yet taken by the network.
  size_t held_bytes(const Transport& transport) const;

 private:
  struct Waiting {
    Time due;  // not before, even when the connection stands; nor before what is ahead of it
    std::string bytes;
  };

  size_t drop_waiting();

  State state_;
  bool failing_ = false;
  bool lost_ = false;  // something that was sent, or waited, since it was welcomed last
  Time dialed_at_{};
  Duration pause_{};  // until the next attempt, should this one fail; zero: a lost link is dialed at once
  std::deque<Waiting> waiting_;
  size_t waiting_bytes_ = 0;
};

}  // namespace ringkv
