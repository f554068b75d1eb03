// Single questions to an address, each on a connection of its own: who is there, and may I join. Each is
// answered once, by its time.
//
// Loop thread.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "base/transport.h"
#include "gossip/greeting.h"
#include "node/peer_codec.h"
#include "node/peer_faults.h"
#include "ringkv/status.h"

namespace ringkv {

class PeerErrands {
 public:
  PeerErrands(Transport& transport, const PeerFaults& faults, PeerCodec& codec);

  struct Identify {
    PeerHello hello;
    std::function<void(Result<PeerWelcome>)> done;
  };
  struct Join {
    JoinRequest request;
    std::function<void(JoinAnswer)> done;
  };
  using Question = std::variant<Identify, Join>;

  // `done` is told UNAVAILABLE when nobody answers by then; never from within this call.
  void ask(const Address& address, Question question, Time by);

  bool owns(ConnectionId connection) const;
  void on_tick(Time now);
  void on_connected(ConnectionId connection);
  size_t on_bytes(ConnectionId connection, std::string_view available);
  void on_closed(ConnectionId connection, const Status& why);
  void cancel_all(const Status& why);

 private:
  struct Errand {
    ConnectionId connection = 0;  // 0: nobody is dialed, on purpose
    Address address;
    Time by;
    Question question;
    std::string parts;  // values of an answer that is still arriving
  };

  using Errands = std::vector<Errand>;

  Errands::iterator find(ConnectionId connection);
  void on_frame(Errand& errand, const Frame& frame);
  Status take_part(Errand& errand, const Frame& frame);
  void fail(ConnectionId connection, const Status& why);
  Errand take(Errands::iterator errand);

  Transport& transport_;
  const PeerFaults& faults_;
  PeerCodec& codec_;
  Errands errands_;  // few at a time
};

}  // namespace ringkv
