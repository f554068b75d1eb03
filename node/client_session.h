// A client's half of the protocol, without I/O: requests are pipelined over one connection to one of the
// given nodes, and every one is answered once, by its deadline.
//
// What is repeated within the deadline:
// - After a lost connection: reads; puts with their operation id and the boot that they were sent to first,
//   so that a node applies them at most once. A node's answer under that very boot speaks for the operation;
//   any other failure leaves the outcome unknown.
// - After an answer that says that nothing was written: OVERLOADED with growing pauses, UNAVAILABLE a few
//   times, as new operations.
// Everything else is final.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/client_message.h"
#include "base/random.h"
#include "base/time.h"
#include "base/transport.h"
#include "node/client_dialer.h"
#include "node/wire_codec.h"
#include "ringkv/client.h"

namespace ringkv {

// Requests under way hold at most this much; more: OVERLOADED.
inline constexpr size_t kClientRequestBytesMax = size_t{256} << 20;

class ClientSession final : public TransportHandler {
 public:
  using Done = std::function<void(ClientReply)>;

  // `options.nodes` isn't empty. Everything is called on one thread; `transport`'s handler is this.
  ClientSession(ClientOptions options, Transport& transport, Clock& clock, Random& random);

  // Once: OK when a node serves, UNAVAILABLE when a round of all found none, naming each with its reason.
  void connect(std::function<void(const Status&)> done);

  // `done` is called once, perhaps from within this call; it may submit.
  void submit(ClientRequest request, Done done);

  // Answers all that is under way, and whatever comes later, at once.
  void shut_down();

  void on_tick(Time now);

  bool owns(ConnectionId connection) const { return connection == dialer_.connection(); }

  const std::string& node() const { return dialer_.node(); }  // that serves, or is tried

  void on_accepted(ConnectionId, Door, const Address&) override {}
  void on_connected(ConnectionId connection) override;
  size_t on_bytes(ConnectionId connection, std::string_view available) override;
  void on_closed(ConnectionId connection, const Status& why) override;

 private:
  // Numbers are drawn anew for each sending and never again: a late answer finds nobody.
  using Number = uint64_t;

  struct Request {
    ClientRequest request;
    Done done;
    Time deadline;
    size_t bytes = 0;
    bool on_wire = false;
    Boot sent_to;  // as far as was known then: a later life may have got it, and never an earlier one
    Time sent_at{};
    uint32_t refusals = 0;  // answers that said "nothing was written"
    Status refusal;         // the last of them
    std::string earlier_values;
  };

  Status check(const ClientRequest& request) const;
  void name_operation(ClientRequest& request);
  bool can_send() const;
  void send_waiting();
  void send(Number number, Request& request);
  Number renumber(Number number);

  void on_dialed(ClientDialer::Event event);
  Status take_frame(const Frame& frame);
  Status take_reply(const Frame& frame, Request& request);
  void settle(Number number, ClientReply reply);
  Status outcome(ClientRequest& request, const ClientReply& reply) const;
  bool retry_refused(Number number, Request& request, const Status& refusal);
  void lose(bool silent, const std::string& why);
  void expire(Number number);
  void finish(Number number, ClientReply reply);
  Status timed_out(const Request& request) const;
  std::string node_did_not_answer(const Request& request) const;

  const ClientOptions options_;
  Transport& transport_;
  Clock& clock_;
  Random& random_;
  const uint64_t client_;

  WireCodec codec_;
  ClientDialer dialer_;
  std::function<void(const Status&)> on_first_round_;
  std::unordered_map<Number, Request> requests_;
  std::set<Number> waiting_;                   // to be sent
  std::set<std::pair<Time, Number>> pausing_;  // to be sent later; may name requests that are gone
  std::set<std::pair<Time, Number>> deadlines_;
  size_t request_bytes_ = 0;
  Number last_number_ = 0;
  uint64_t last_sequence_ = 0;
  Boot boot_;        // of the serving node: it may live on as another one without losing its connections
  Time heard_at_{};  // when bytes of the serving node came last
  bool shut_down_ = false;
};

}  // namespace ringkv
