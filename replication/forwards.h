// Requests that this node has handed on, each once, to the node that can serve them: a put to the best owner
// of its key, or what is asked of one node by name.
//
// A put is followed like one of this node's own: a retry waits for the same outcome. What became of it when
// its target can't be reached any more isn't known.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "replication/request_environment.h"

namespace ringkv {

class Forwards {
 public:
  explicit Forwards(RequestEnvironment& environment) : environment_(environment) {}

  // The request was checked, and there is room for it. `full`: owners that had none.
  void start(const Arrival& arrival, ClientRequest request, NodeId to, std::vector<NodeId> full,
             MessageOutbox& outbox);

  // False: not one of these.
  bool add_requester(RequestNumber request, const Requester& requester);

  // A put to be routed anew by this node's own coordinator: its target had a newer ring, or no room on its
  // disk, and did nothing.
  struct Returned {
    std::vector<Requester> requesters;
    ClientPut put;
    Time deadline;
    std::vector<NodeId> full;  // owners of the present ring that had no room, the last one now
    Status why_full;           // as it said; OK: a newer ring
  };
  std::optional<Returned> on(ForwardedReply reply, MessageOutbox& outbox);
  std::vector<Returned> on_ring(MessageOutbox& outbox);

  void on_view(MessageOutbox& outbox);
  void on_link_restored(NodeId node, MessageOutbox& outbox);
  void expire(RequestNumber request, Time now, MessageOutbox& outbox);
  void fail_all(const Status& why, MessageOutbox& outbox);

  bool contains(RequestNumber request) const { return forwards_.contains(request); }
  size_t size() const { return forwards_.size(); }

 private:
  struct Forward {
    std::vector<Requester> requesters;
    ClientRequest request;
    NodeId to;
    Time deadline;
    uint64_t epoch = 0;    // by which it was routed
    bool refused = false;  // by a newer ring: nothing was done, and that ring is on its way here
    bool resent = false;   // its target may have taken it before
    std::vector<NodeId> full;
    size_t held_bytes = 0;

    const ClientPut* put() const { return std::get_if<ClientPut>(&request.body); }
  };

  void send(RequestNumber number, const Forward& forward, MessageOutbox& outbox) const;
  Returned take_back(RequestNumber number);
  void finish(RequestNumber number, const ClientReply& reply, MessageOutbox& outbox);
  void lose(RequestNumber number, const Status& why, MessageOutbox& outbox);

  RequestEnvironment& environment_;
  std::unordered_map<RequestNumber, Forward> forwards_;
};

}  // namespace ringkv
