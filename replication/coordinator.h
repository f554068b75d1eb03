// The requests of clients under way on this node: checks them, asks the owners of their keys, counts answers
// and answers, each once, by its deadline (Dynamo paper, section 4.5).
//
// Of a write it gives three answers and never mixes them up: ok; refused (nothing was written); unknown.
// UNAVAILABLE only before a stamp can have been made, afterwards UNKNOWN_OUTCOME with the operation's name.
//
// A core: no I/O, no clock of its own. Loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "replication/admission.h"
#include "replication/get_request.h"
#include "replication/messages.h"
#include "replication/operation_table.h"
#include "replication/put_request.h"
#include "replication/request_statistics.h"
#include "replication/ring.h"

namespace ringkv {

class Coordinator {
 public:
  struct Settings {
    NodeId self;
    Boot boot;
    Durability durability = Durability::kSynced;
    size_t requests_max = 20'000;  // under way at once; more: OVERLOADED
    size_t held_bytes_max = size_t{64}
                            << 20;  // of requests under way and in the store's backlog; more: OVERLOADED
    TokenFunction token = &token_of;
  };

  // The ring is borrowed and must outlive its use: until the next set_ring.
  Coordinator(const Settings& settings, const Ring& ring) : settings_(settings), ring_(&ring) {}

  void set_ring(const Ring& ring) { ring_ = &ring; }

  // While the disk is nearly full puts are refused with this reason; deletes are taken.
  void refuse_puts(std::string reason) { puts_refused_ = std::move(reason); }
  void take_puts() { puts_refused_.clear(); }
  const std::string& puts_refused() const { return puts_refused_; }

  struct Arrival {
    Requester requester;
    Time deadline;
    Time now;
    WallMicros wall_now = 0;
    size_t backlog_bytes = 0;  // that the store holds for its disk, of requests answered already too
  };
  void on(const Arrival& arrival, ClientPut put, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientGet& get, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientScan& scan, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientLocalGet& get, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientExplain& explain, MessageOutbox& outbox);

  void on(const StampPutAck& ack, Time now, MessageOutbox& outbox);
  void on(ReplicaGetReply reply, Time now, WallMicros wall_now, MessageOutbox& outbox);
  void on(SliceRead slice, Time now, MessageOutbox& outbox);

  // Answers what is past its deadline.
  void tick(Time now, WallMicros wall_now, MessageOutbox& outbox);

  // The store has failed: whatever was stamped may or may not be on disk.
  void fail_all(const Status& why, Time now, MessageOutbox& outbox);

  RequestStatistics& statistics() { return statistics_; }
  size_t under_way() const { return puts_.size() + gets_.size() + scans_.size(); }

 private:
  void answer(Requester requester, ClientReply reply, MessageOutbox& outbox) const;

  struct ScanRequest {
    Requester requester;
    Time started;
  };
  struct Deadline {
    Time at;
    RequestNumber request = 0;

    friend bool operator>(const Deadline& a, const Deadline& b) { return a.at > b.at; }
  };

  Load load(const Arrival& arrival) const;
  Place place(std::string_view bucket, std::string_view key) const;
  std::vector<NodeId> owners_of(Partition partition) const;
  RequestNumber next_number(Time deadline);

  // True when the operation was here before, or may have been: it isn't stamped, but answered from what is
  // known.
  bool answered_as_retry(const Arrival& arrival, const ClientPut& put, const BucketDescription& bucket,
                         const Place& place, MessageOutbox& outbox);
  void start_put(const Arrival& arrival, ClientPut put, const BucketDescription& bucket, Place place,
                 MessageOutbox& outbox);
  void start_get(const Arrival& arrival, GetRequest::Asked asked, MessageOutbox& outbox);
  void finish_put(RequestNumber number, const ClientReply& reply, Time now, MessageOutbox& outbox);
  void read_for_retry(const Arrival& arrival, const ClientPut& put, const BucketDescription& bucket,
                      const Place& place, MessageOutbox& outbox);
  ClientReply receipt(const std::vector<NodeId>& acknowledged_by, bool synced) const;
  ClientReply receipt_of(const PutRequest& put) const;
  ClientReply unknown_outcome_of(const PutRequest& put, std::string_view reason) const;
  ClientReply failure_of(const GetRequest::Asked& asked, Status status) const;
  ClientReply answer_of(const GetRequest& get, WallMicros wall_now) const;
  void expire(RequestNumber number, Time now, WallMicros wall_now, MessageOutbox& outbox);

  const Settings settings_;
  const Ring* ring_;
  std::string puts_refused_;

  RequestNumber last_number_ = 0;
  std::unordered_map<RequestNumber, PutRequest> puts_;
  std::unordered_map<RequestNumber, GetRequest> gets_;
  std::unordered_map<RequestNumber, ScanRequest> scans_;
  size_t held_bytes_ = 0;            // of puts_
  std::vector<Deadline> deadlines_;  // a heap, soonest first; those of answered requests are passed over
  OperationTable operations_;
  RequestStatistics statistics_;
};

}  // namespace ringkv
