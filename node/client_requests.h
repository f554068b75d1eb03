// A client's requests, from submission to their one answer, which comes by their deadline; without I/O.
//
// What is repeated within the deadline:
// - After a lost connection: reads, anywhere; puts with their operation id and the boot that they were sent
// to
//   first, so that they are applied at most once: over the same connection when it comes back at once, since
//   that boot alone knows what became of them, otherwise anywhere. A node's answer under that very boot
//   speaks for the operation; any other failure leaves the outcome unknown.
// - Off a silent node, as soon as another can be asked: reads, and writes that never left.
// - After an answer that says that nothing was written, as a new operation: OVERLOADED with growing pauses,
//   UNAVAILABLE a few times, STALE_EPOCH once the routes were fetched anew; each time with another owner
//   first.
// Everything else is final.
//
// Writes of one key follow each other; what waits behind another counts as under way.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/client_message.h"
#include "base/random.h"
#include "base/time.h"
#include "base/token.h"
#include "node/client_router.h"
#include "node/seen_contexts.h"
#include "node/wire_codec.h"
#include "node/write_order.h"

namespace ringkv {

// Requests under way hold at most this much; more: OVERLOADED.
inline constexpr size_t kClientRequestBytesMax = size_t{256} << 20;

class ClientRequests {
 public:
  using Done = std::function<void(ClientReply)>;

  ClientRequests(ClientGround& ground, ClientRouter& router, Clock& clock, WireCodec& codec);

  // `done` is called once, perhaps from within this call; it may submit.
  void submit(ClientRequest request, Done done);

  // A read of the client itself; over this connection, unless it is nullptr or can't be used.
  void ask(ClientLink* link, ClientRequest::Body body, Duration timeout, Done done);

  // Answers all that is under way, and whatever comes later, at once.
  void shut_down();

  // Of a serving node. Not OK: the connection can't be used any more.
  Status on_frame(ClientLink& link, const Frame& frame);
  void on_served(ClientLink& link);
  void on_failed(ClientLink& link);  // it wasn't serving yet
  void on_lost(ClientLink& link, const std::string& why);
  void on_quiet(ClientLink& link, ClientLink::Quiet quiet);

  // STALE_EPOCH was answered: some wait until the routes have been fetched anew, or couldn't be.
  bool await_routes() const { return !stale_.empty(); }
  void on_routes();

  // Sends what can be sent, after anything above.
  void send_waiting();
  void send_waiting(ClientLink& link);  // the connection may have room again
  void on_tick(Time now);

 private:
  // Numbers are drawn anew for each sending and never again: a late answer finds nobody.
  using Number = uint64_t;
  // Where it waits.
  enum class At : uint8_t {
    kReady,          // in this call
    kBehindAnother,  // write of its key
    kUnserved,       // nobody serves
    kQueued,         // at a connection
    kOnWire,
    kPausing,
    kStale,  // until routes come
  };

  struct Key {
    KeyDigest digest;
    KeyIdentity identity;
  };

  struct Request {
    ClientRequest request;
    Done done;
    Time deadline;
    std::optional<Key> key;  // of a put or a get
    bool own = false;        // the client's, not its user's
    bool named = false;      // its operation id is the user's, who may repeat it: it is never given another
    size_t bytes = 0;

    At at = At::kReady;
    ClientLink* link =
        nullptr;         // where it is queued or on the wire; for kReady: to go there, if it can be used
    uint64_t epoch = 0;  // of the routes that led there
    Boot sent_to;        // as far as was known then: a later life may have got it, and never an earlier one
    uint32_t refusals = 0;     // answers that said "nothing was written"
    uint32_t passed_over = 0;  // those of them that another owner may not give
    Status refusal;            // the last of them
    std::string earlier_values;
  };
  using Requests = std::unordered_map<Number, Request>;

  Status check(const ClientRequest& request) const;
  void name_operation(ClientRequest& request);
  void take(Request&& request);

  void make_ready(Number number);
  void send_ready();
  void dispatch(Number number, Request& request);
  void send(Number number, Request& request);
  Status encode(Number number, Request& request, Duration left);
  void drain(ClientLink& link);
  void withdraw(Number number, Request& request);
  Number renumber(Number number);
  std::vector<Number> numbers_at(const ClientLink& link) const;

  void repeat_lost(Number number, Request& request, const std::string& why);
  void move_reads_off(ClientLink& link);
  Status take_reply(ClientLink& link, const Frame& frame, Request& request);
  void learn(const Request& request, const ClientReply& reply);
  void settle(Number number, ClientReply reply);
  Status outcome(ClientRequest& request, const ClientReply& reply) const;
  bool retry_refused(Number number, Request& request, const Status& refusal);
  void expire(Number number);
  void finish(Number number, ClientReply reply);
  Status given_up(const Request& request, const std::string& why) const;
  std::string what_was_missing(const Request& request) const;

  ClientGround& ground_;
  ClientRouter& router_;
  Clock& clock_;
  WireCodec& codec_;
  const uint64_t client_;  // of operation ids

  Requests requests_;
  std::deque<Number> ready_;
  std::set<Number> unserved_;
  std::set<std::pair<Time, Number>> pausing_;  // may name requests that are gone
  std::set<Number> stale_;
  std::set<std::pair<Time, Number>> deadlines_;
  WriteOrder write_order_;
  SeenContexts seen_;
  size_t users_requests_ = 0;
  size_t request_bytes_ = 0;
  Number last_number_ = 0;
  uint64_t last_sequence_ = 0;
  bool sending_ = false;  // send_ready() is on the stack
  bool shut_down_ = false;
};

}  // namespace ringkv
