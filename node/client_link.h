// One connection of a client to one node: dialed, greeted, used, ended, dialed again; and what its quiet
// means. It carries frames and knows no request.
//
// A node that has requests of ours and sends nothing is asked something small. When it says nothing to that
// either it is silent, whatever TCP believes: nothing new is sent to it until it is heard again, and after a
// longer while the connection is given up. A node that is only slow with one request answers the small
// question.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "base/time.h"
#include "base/transport.h"
#include "node/wire_codec.h"

namespace ringkv {

class ClientNode;

class ClientLink {
 public:
  static constexpr Duration kAskAfter = std::chrono::milliseconds(250);
  static constexpr Duration kAnswersWithin = std::chrono::milliseconds(250);  // what it was asked then
  static constexpr Duration kGoneAfter = std::chrono::seconds(2);

  enum class Quiet : uint8_t { kNo, kToBeAsked, kSilent, kGone };
  using Table = std::unordered_map<ConnectionId, ClientLink*>;  // whose each connection is

  // `place`: random bits, said at each greeting. A node ends the older connection of the same place, so that
  // what was sent on it can't come behind what is repeated on the new one.
  ClientLink(ClientNode& node, Transport& transport, Table& table, uint64_t place)
      : node_(node), transport_(transport), table_(table), place_(place) {}
  ClientLink(const ClientLink&) = delete;
  ClientLink& operator=(const ClientLink&) = delete;

  ClientNode& node() const { return node_; }
  bool idle() const { return phase_ == Phase::kIdle; }
  bool dialing() const { return phase_ == Phase::kDialing; }
  bool serving() const { return phase_ == Phase::kServing; }
  bool usable() const { return serving() && !silent_; }
  bool overdue(Time now) const { return dialing() && now >= give_up_at_; }

  void dial(const Address& address, Time give_up_at);
  void greet(WireCodec& codec);
  void serve(Boot boot);
  void close();  // by us
  void end();    // the connection is gone

  // Of the serving node; it may live on as another boot without losing its connections.
  Boot boot() const { return boot_; }
  void set_boot(Boot boot) { boot_ = boot; }

  std::string& output() { return transport_.output(connection_); }
  bool has_room() const { return transport_.unsent_bytes(connection_) <= kUnsentBytesMax; }

  void on_sent(Time now);   // a request
  void on_heard(Time now);  // any bytes
  void on_answered();       // a request
  void on_abandoned();      // a request whose answer isn't waited for any longer
  bool has_unanswered() const { return unanswered_ > 0; }

  // kToBeAsked once for each quiet; the others as long as they hold.
  Quiet listen(Time now);

  // Numbers of requests that wait for this connection: for room, or to be dialed again.
  std::set<uint64_t> queue;

 private:
  enum class Phase : uint8_t { kIdle, kDialing, kServing };

  ClientNode& node_;
  Transport& transport_;
  Table& table_;
  const uint64_t place_;

  Phase phase_ = Phase::kIdle;
  ConnectionId connection_ = 0;
  Time give_up_at_{};
  Boot boot_;
  size_t unanswered_ = 0;            // requests
  std::optional<Time> quiet_since_;  // while an answer is due
  std::optional<Time> asked_at_;
  bool silent_ = false;
};

}  // namespace ringkv
