// Brings hints to the nodes that they are for, as soon as these can be reached, at a pace that follows the
// receiver's latency: a window of copies under way that grows while they are acknowledged quickly and halves
// when they are not. Goes on after any crash of either side: what isn't acknowledged is still on disk.
//
// Where the intended node no longer owns the key, the hint goes to the present owners, whether the intended
// node can be reached or not, and is taken away when all of them have it; for one that can't be reached it
// becomes a hint of its own. One receiver's trouble holds up nobody else's hints, and a hint that is refused
// for its own sake none of those behind it.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "replication/convergence_environment.h"

namespace ringkv {

class HintDelivery {
 public:
  explicit HintDelivery(ConvergenceEnvironment& environment) : environment_(environment) {}

  void tick(Moment moment, MessageOutbox& outbox);
  // The node can be reached again, or has lost what was sent to it.
  void restart(NodeId node, Moment moment, MessageOutbox& outbox);
  bool on(HintsRead& read, Moment moment, MessageOutbox& outbox);           // false: another's
  bool on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);  // false: another's

  size_t under_way() const;

 private:
  struct Hint {
    std::string storage_key;
    std::string previous;  // storage key of the hint before it
    SharedBytes record;
  };
  struct Flight {
    Hint hint;
    CausalContext context;
    std::set<NodeId> awaited;
    bool redirected = false;
    Time sent;
  };
  // A walk over the hints for one node, in storage order; again from the start as long as any are left.
  struct Course {
    size_t window = 4;
    Time window_since;  // acknowledgements of what was sent earlier say nothing of this window
    Time rests_until;
    uint64_t ticket = 0;  // of the slice that is being read
    std::string after;    // read up to here
    bool at_end = false;
    bool passed_over = false;  // some hint was refused, and is tried again the next time
    std::deque<Hint> queue;
    std::map<RequestNumber, Flight> flights;
    size_t bytes_in_flight = 0;
    uint64_t redirected_epoch = 0;  // by whose lists it was seen that nothing is for others
  };
  using Courses = std::map<NodeId, Course>;

  bool goes_on(NodeId node, const Course& course) const;
  // Sends and reads what the window has room for.
  void pump(NodeId node, Course& course, Time now, MessageOutbox& outbox);
  void read_on(NodeId node, Course& course, MessageOutbox& outbox);
  void send(NodeId node, Course& course, Hint hint, Time now, MessageOutbox& outbox);
  // To all owners; who can't be reached gets a hint kept here.
  void redirect(RequestNumber number, const ReplicaPut& put, const std::vector<NodeId>& owners,
                MessageOutbox& outbox);
  void end_turn(NodeId node, Course& course, Time now) const;

  void on_held(NodeId node, Course& course, RequestNumber number, Time now, MessageOutbox& outbox);
  void on_failure(Course& course, RequestNumber number, StatusCode why, Time now);
  void expire(Course& course, Time now);
  void adapt(Course& course, Duration latency, Time sent, Time now) const;
  void halve(Course& course, Time now) const;
  Flight take(Course& course, RequestNumber number);
  void stop(Course& course);

  ConvergenceEnvironment& environment_;
  Courses courses_;                            // by intended node
  std::map<uint64_t, NodeId> by_ticket_;       // reads under way
  std::map<RequestNumber, NodeId> by_number_;  // flights
};

}  // namespace ringkv
