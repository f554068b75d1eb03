// The requests of clients under way on this node (Dynamo paper, section 4.5): checks them, finds out which of
// them have been here before, and hands each to those who see it through: Puts, Gets, Scans, Forwards. Each
// request is answered once, by its deadline.
//
// Any node takes any request. A put that this node may not stamp, since it is no owner of the key, goes to
// the first owner that can be reached; everything else is coordinated here.
//
// A core: no I/O, no clock of its own. Loop thread.
#pragma once

#include <string>

#include "base/cluster_view.h"
#include "replication/admission.h"
#include "replication/forwards.h"
#include "replication/gets.h"
#include "replication/puts.h"
#include "replication/request_environment.h"
#include "replication/scans.h"

namespace ringkv {

class Coordinator {
 public:
  using Settings = CoordinatorSettings;
  using Arrival = ringkv::Arrival;

  // The ring is borrowed and must outlive its use: until the next set_ring.
  Coordinator(const Settings& settings, const Ring& ring)
      : environment_(settings, ring),
        puts_(environment_),
        gets_(environment_),
        scans_(environment_),
        forwards_(environment_) {}

  // Whatever is under way goes on by the new ring's lists; answers to what was asked by the old one don't
  // count.
  void set_ring(const Ring& ring, Time now, WallMicros wall_now, MessageOutbox& outbox);

  // What waits for a node that can't be reached any more is given up, or asked elsewhere.
  void set_view(ClusterView view, Time now, WallMicros wall_now, MessageOutbox& outbox);

  // What was sent to the node before may be lost: what is unanswered is sent again.
  void on_link_restored(NodeId node, MessageOutbox& outbox);

  // While the disk is nearly full puts are refused with this reason; deletes are taken.
  void refuse_puts(std::string reason) { puts_refused_ = std::move(reason); }
  void take_puts() { puts_refused_.clear(); }
  const std::string& puts_refused() const { return puts_refused_; }

  void on(const Arrival& arrival, ClientPut put, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientGet& get, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientScan& scan, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientLocalGet& get, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientExplain& explain, MessageOutbox& outbox);

  // Hands a request on to a node by name: what only that node can answer. UNAVAILABLE at once where it can't
  // be reached.
  void forward(const Arrival& arrival, ClientRequest request, NodeId to, MessageOutbox& outbox);

  // A put that another node, no owner of its key, hands on. Other bodies are the shell's.
  // `arrival.requester` names that node and its number of the request.
  void on(const Arrival& arrival, ForwardedRequest request, MessageOutbox& outbox);
  void on(ForwardedReply reply, Time now, WallMicros wall_now, MessageOutbox& outbox);

  void on(PutStamped stamped, Time now, MessageOutbox& outbox);
  void on(const StampPutAck& ack, Time now, MessageOutbox& outbox);
  void on(const ReplicaPutAck& ack, Time now, WallMicros wall_now, MessageOutbox& outbox);
  void on(ReplicaGetReply reply, Time now, WallMicros wall_now, MessageOutbox& outbox);
  void on(ReplicaScanReply reply, Time now, WallMicros wall_now, MessageOutbox& outbox);

  // Answers what is past its deadline, asks others beside owners that are slow.
  void tick(Time now, WallMicros wall_now, MessageOutbox& outbox);

  // The store has failed: whatever was stamped may or may not be on disk.
  void fail_all(const Status& why, Time now, MessageOutbox& outbox);

  RequestStatistics& statistics() { return environment_.statistics; }
  size_t under_way() const { return puts_.size() + gets_.size() + scans_.size() + forwards_.size(); }

 private:
  Load load(const Arrival& arrival) const;

  // True when the operation was here before, or may have been: it isn't stamped, but answered from what is
  // known.
  bool answered_as_retry(const Arrival& arrival, const ClientPut& put, const BucketDescription& bucket,
                         const Place& place, MessageOutbox& outbox);
  bool answered_from_table(const Arrival& arrival, const ClientPut& put, const BucketDescription& bucket,
                           const Place& place, MessageOutbox& outbox);
  void read_for_retry(const Arrival& arrival, const ClientPut& put, const BucketDescription& bucket,
                      const Place& place, MessageOutbox& outbox);
  void route(const Arrival& arrival, ClientPut put, const BucketDescription& bucket, Place place,
             MessageOutbox& outbox);
  void hand_on(const Arrival& arrival, ClientPut put, Token token, const std::vector<NodeId>& owners,
               MessageOutbox& outbox);
  void take_back(Forwards::Returned returned, Moment moment, MessageOutbox& outbox);
  void hand_on_again(const Arrival& arrival, const Forwards::Returned& returned, MessageOutbox& outbox);
  void start_get(const Arrival& arrival, GetRequest::Question question, MessageOutbox& outbox);
  void wake(RequestNumber request, Moment moment, MessageOutbox& outbox);

  RequestEnvironment environment_;
  std::string puts_refused_;
  Puts puts_;
  Gets gets_;
  Scans scans_;
  Forwards forwards_;
};

}  // namespace ringkv
