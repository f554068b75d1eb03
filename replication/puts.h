// The puts and deletes that this node coordinates, as an owner of their keys: stamps each where its previous
// versions are known, sends the record that results to the other owners, has hints kept for those that can't
// take it now, and answers once W have acknowledged (replication/put_copies.h says who counts).
//
// An answered put lingers until its other owners have acknowledged it too, or can't and a hint is kept, or
// its deadline has passed: who is silent for too long gets a hint then, and who acknowledges after all has
// its hint cancelled, so that slow nodes alone leave no hints behind. Bounded: a put that doesn't fit any
// more has its hints kept at once, and is forgotten.
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
  static constexpr size_t kLingeringMax = 10'000;
  static constexpr size_t kLingeringBytesMax = size_t{32} << 20;

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

  // Its deadline has come, or owners have been silent for too long.
  void wake(RequestNumber request, Time now, MessageOutbox& outbox);

  // By the new ring's lists, under new numbers: answers counted together are of one epoch.
  void on_ring(Time now, MessageOutbox& outbox);
  void on_view(Time now, MessageOutbox& outbox);
  void on_link_restored(NodeId node, MessageOutbox& outbox) const;
  void fail_all(const Status& why, Time now, MessageOutbox& outbox);

  bool contains(RequestNumber request) const { return puts_.contains(request); }
  size_t size() const { return puts_.size() - lingering_; }  // not answered yet
  size_t lingering() const { return lingering_; }

 private:
  using Table = std::unordered_map<RequestNumber, PutRequest>;

  RequestNumber insert(PutRequest put);
  void read_first(RequestNumber request, StampPut stamp, Time now, MessageOutbox& outbox);
  void ask(NodeId owner, RequestNumber request, const PutRequest& put, MessageOutbox& outbox) const;
  void stamp(RequestNumber request, StampPut stamp, MessageOutbox& outbox);

  // ---- puts_replicating.cc: what was stamped goes out
  PutCopies copies_of(const PutRequest& put, Time now) const;
  // To the owners that don't hold it.
  void send_out(RequestNumber request, PutRequest& put, Time now, MessageOutbox& outbox);
  void send_copy(NodeId owner, RequestNumber request, const PutRequest& put, MessageOutbox& outbox) const;
  void send_hint(const PutCopies::Hint& hint, RequestNumber request, const PutRequest& put,
                 MessageOutbox& outbox) const;
  void cancel(const std::vector<PutCopies::Hint>& hints, const PutRequest& put, MessageOutbox& outbox) const;
  void ask_keepers(RequestNumber request, PutRequest& put, Time now, MessageOutbox& outbox);
  void replicate_anew(RequestNumber request, Time now, MessageOutbox& outbox);
  // False: there is nobody to wait for, or no room to.
  bool linger(PutRequest& put, Time now, MessageOutbox& outbox);
  void end_lingering(Table::iterator put);
  static size_t lingering_bytes_of(const PutRequest& put);

  // Answers when it is decided.
  void advance(RequestNumber request, Time now, MessageOutbox& outbox);
  void advance_reading(RequestNumber request, Time now, MessageOutbox& outbox);
  void expire(RequestNumber request, Time now, MessageOutbox& outbox);
  void finish(RequestNumber request, const ClientReply& reply, Time now, MessageOutbox& outbox);
  ClientReply receipt_of(const PutRequest& put) const;
  ClientReply unknown_outcome(const PutRequest& put, std::string_view reason) const;
  uint32_t acknowledged_bits(const PutRequest& put) const;

  RequestEnvironment& environment_;
  Table puts_;
  size_t lingering_ = 0;  // of them
  size_t lingering_bytes_ = 0;
};

}  // namespace ringkv
