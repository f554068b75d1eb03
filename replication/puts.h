// The puts and deletes that this node coordinates, as an owner of their keys: stamps each where its previous
// versions are known, sends the record that results to the other owners, and answers once W have
// acknowledged.
//
// Of a write there are three answers: ok; refused, before anything was stamped; unknown, afterwards.
#pragma once

#include <unordered_map>
#include <vector>

#include "replication/put_request.h"
#include "replication/request_environment.h"

namespace ringkv {

class Puts {
 public:
  explicit Puts(RequestEnvironment& environment) : environment_(environment) {}

  // The put was checked, this node owns its key, and there is room for it.
  void start(const Arrival& arrival, ClientPut put, const BucketDescription& bucket, Place place,
             MessageOutbox& outbox);

  // False: not one of these.
  bool add_requester(RequestNumber request, const Requester& requester);
  bool on(const ReplicaGetReply& reply, Time now, MessageOutbox& outbox);
  bool on(const ReplicaPutAck& ack, Time now, MessageOutbox& outbox);

  void on(PutStamped stamped, Time now, MessageOutbox& outbox);
  void on(const StampPutAck& ack, Time now, MessageOutbox& outbox);

  void expire(RequestNumber request, Time now, MessageOutbox& outbox);

  // By the new ring's lists, under new numbers: answers counted together are of one epoch.
  void on_ring(Time now, MessageOutbox& outbox);
  void on_view(Time now, MessageOutbox& outbox);
  void on_link_restored(NodeId node, MessageOutbox& outbox) const;
  void fail_all(const Status& why, Time now, MessageOutbox& outbox);

  bool contains(RequestNumber request) const { return puts_.contains(request); }
  size_t size() const { return puts_.size(); }

 private:
  using Table = std::unordered_map<RequestNumber, PutRequest>;

  RequestNumber insert(PutRequest put);
  void read_first(RequestNumber request, StampPut stamp, Time now, MessageOutbox& outbox);
  void stamp(RequestNumber request, StampPut stamp, MessageOutbox& outbox);
  Quorum acknowledgements(const PutRequest& put) const;
  void ask(NodeId owner, RequestNumber request, const PutRequest& put, MessageOutbox& outbox) const;
  void send_copy(NodeId owner, RequestNumber request, const PutRequest& put, MessageOutbox& outbox) const;

  // Answers when it is decided.
  void advance(RequestNumber request, Time now, MessageOutbox& outbox);
  void advance_reading(RequestNumber request, Time now, MessageOutbox& outbox);
  void finish(RequestNumber request, const ClientReply& reply, Time now, MessageOutbox& outbox);
  ClientReply receipt_of(const PutRequest& put) const;
  ClientReply unknown_outcome(const PutRequest& put, std::string_view reason) const;
  uint32_t acknowledged_bits(const PutRequest& put) const;

  RequestEnvironment& environment_;
  Table puts_;
};

}  // namespace ringkv
