// Requests: those for the cores of the life are handed on, the rest are views of the node and its ring.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "node/member_tables.h"
#include "node/node.h"
#include "node/plan_outline.h"
#include "node/ring_plans.h"
#include "node/views.h"

namespace ringkv {
namespace {

constexpr Duration kOpenedWithin = std::chrono::seconds(5);

template <class Request>
constexpr bool kOfCoordinator =
    std::is_same_v<Request, ClientGet> || std::is_same_v<Request, ClientScan> ||
    std::is_same_v<Request, ClientLocalGet> || std::is_same_v<Request, ClientExplain>;

}  // namespace

void Node::on_request(Requester requester, ClientRequest request) {
  if (!serving() || stopping_) {
    return refuse_put(requester, unavailable(why_not_serving()));
  }
  std::visit([&](auto& body) { route(requester, std::move(body), request.timeout); }, request.body);
}

// In no boot's name: nobody has looked whether an earlier try of this operation was written.
void Node::refuse_put(const Requester& requester, Status why) {
  ClientReply reply;
  reply.status = std::move(why);
  reply.epoch = epoch();
  door_.answer(requester, reply);
}

Coordinator::Arrival Node::arrival(const Requester& requester, Time deadline) const {
  const auto [now, wall_now] = life_->moment();
  return {requester, deadline, now, wall_now, life_->backlog_bytes()};
}

template <class Request>
void Node::route(const Requester& requester, Request request, Duration timeout) {
  const Time deadline = environment_.clock.now() + timeout;
  if constexpr (std::is_same_v<Request, ClientPut>) {
    take_put(requester, std::move(request), deadline);
  } else if constexpr (kOfCoordinator<Request>) {
    life_->on_request(arrival(requester, deadline), std::move(request));
  } else if constexpr (Life::kOfConvergence<Request>) {
    serve_converging(requester, request, deadline);
  } else {
    serve(requester, request, deadline);
  }
}

void Node::take_put(const Requester& requester, ClientPut put, Time deadline) {
  if (life_->ring().description().open)
    return life_->on_request(arrival(requester, deadline), std::move(put));
  const bool is_first = first_puts_.empty();
  if (Status status = first_puts_.add({requester, std::move(put), deadline}); !status.ok())
    return refuse_put(requester, std::move(status));
  if (!is_first) return;
  member_->change_ring(opened(), environment_.clock.now() + kOpenedWithin, [this](const Status& status) {
    if (!status.ok()) refuse_first_puts(first_puts_.take(), status.message());
  });
}

void Node::refuse_first_puts(const std::deque<FirstPuts::Waiting>& puts, std::string_view reason) {
  for (const FirstPuts::Waiting& waiting : puts) {
    answer(
        waiting.requester,
        unavailable(cat("key ", display_key(waiting.put.key),
                        " is not stored: the first put opens the ring, for which a majority of its voters ",
                        "must answer (", reason, ")")));
  }
}

void Node::on_ring() {
  warn_of_labels();
  if (!life_->ring().description().open || first_puts_.empty()) return;
  for (FirstPuts::Waiting& waiting : first_puts_.take())
    life_->on_request(arrival(waiting.requester, waiting.deadline), std::move(waiting.put));
}

void Node::serve(const Requester& requester, const ClientStatus&, Time) {
  answer(requester, {}, cluster_status(*life_, *member_, identity_.node));
}

void Node::serve(const Requester& requester, const ClientRing& request, Time) {
  answer(requester, {}, ring_info(life_->ring(), request.owners));
}

void Node::serve(const Requester& requester, const ClientRouting&, Time) {
  answer(requester, {}, routing_table(life_->ring(), member_->states()));
}

void Node::serve(const Requester& requester, const ClientBuckets&, Time) {
  answer(requester, {}, bucket_infos(life_->ring().description()));
}

void Node::serve(const Requester& requester, const ClientCreateBucket& request, Time deadline) {
  change_ring(requester, new_bucket(request.bucket), deadline);
}

void Node::serve(const Requester& requester, const ClientChangeBucket& request, Time deadline) {
  change_ring(requester, changed_bucket(request.name, request.change), deadline);
}

void Node::serve(const Requester& requester, const ClientPartitionSizes& request, Time deadline) {
  if (is_other(request.node)) return hand_over(requester, request, deadline);
  answer(requester, {}, partition_sizes(life_->store().leaves()));
}

void Node::serve(const Requester& requester, const ClientPlanShow&, Time) {
  const PlanSight sight{.is_reachable = [this](NodeId node) { return member_->view().is_reachable(node); },
                        .state_of =
                            [this](NodeId node) {
                              return node == identity_.node ? &member_->states().own()
                                                            : member_->states().find(node);
                            }};
  PlanOutline outline = plan_outline(life_->ring().description(), sight);
  outline.report.bytes_per_second = life_->convergence().pace().bytes_per_second();
  answer(requester, {}, std::move(outline));
}

void Node::serve(const Requester& requester, const ClientPlan& request, Time deadline) {
  change_ring(requester, planned(request.steps), deadline);
}

// Who is up is asked at each try, of the ring that the commit is then tried on.
void Node::serve(const Requester& requester, const ClientCommitPlan& request, Time deadline) {
  change_ring(
      requester,
      [this, request](const RingDescription& ring) -> Result<RingDescription> {
        const CommitSight sight{
            .is_reachable = [this](NodeId node) { return member_->is_up(node); },
            .is_down = [this](NodeId node) { return member_->detector().health(node) == Health::kDown; }};
        if (ring.epoch == request.epoch) {
          if (Status status = check_commit(ring, sight); !status.ok()) return status;
        }
        return committed(request.epoch, request.commit_id)(ring);
      },
      deadline);
}

void Node::serve(const Requester& requester, const ClientCancelPlan& request, Time deadline) {
  change_ring(requester, withdrawn(request.epoch), deadline);
}

void Node::serve(const Requester& requester, const ClientThrottle& request, Time) {
  const uint64_t limit = request.bytes_per_second;
  if (limit != 0 && (limit < TransferPace::kLeastLimit || limit > TransferPace::kMost)) {
    return answer(requester, invalid_argument(cat("a throttle is ", TransferPace::kLeastLimit, " to ",
                                                  TransferPace::kMost, " bytes a second, or none")));
  }
  member_->limit_transfers(limit);
  environment_.log.info(
      "node", request.bytes_per_second == 0
                  ? std::string("transfers follow the requests of clients")
                  : cat("each member takes in at most ", request.bytes_per_second, " bytes a second"));
  answer(requester, {});
}

void Node::serve(const Requester& requester, const ClientForceRing& request, Time) {
  if (request.apply) {
    std::string names;
    for (const std::string& name : request.lost) names += " " + display_key(name);
    environment_.log.warning("node", cat("an operator forces the ring without", names));
  }
  member_->force_ring(request, [this, requester](Result<ForceReport> report) {
    if (!report.ok()) return answer(requester, report.status());
    answer(requester, {}, *std::move(report));
  });
}

// What can't be agreed on isn't proposed: what became of it would be unknown.
Status Node::check_majority() const {
  size_t voters = 0;
  std::vector<Member> missing;
  for (const Member& member : life_->ring().description().members) {
    if (!member.voter) continue;
    ++voters;
    if (!member_->view().is_reachable(member.node)) missing.push_back(member);
  }
  if (2 * missing.size() < voters) return {};
  return unavailable(cat("a majority of the ", voters, " voters must agree to any change of the ring, and ",
                         "these can't be reached: ", names_of(missing),
                         "; if they are gone for good, see `kvctl ring force --help`"));
}

void Node::change_ring(const Requester& requester, RingEdit edit, Time deadline) {
  if (Status status = check_majority(); !status.ok()) return answer(requester, std::move(status));
  member_->change_ring(std::move(edit), deadline,
                       [this, requester](Status status) { answer(requester, std::move(status)); });
}

void Node::serve(const Requester& requester, const ClientFault& request, Time deadline) {
  if (!settings_.enable_faults) {
    return answer(requester, forbidden(cat(identity_.name,
                                           " takes no faults: start it with --enable-faults for tests")));
  }
  const Member* peer = life_->ring().description().find_member(request.peer);
  if (request.kind != ClientFault::Kind::kHeal && peer == nullptr) {
    return answer(requester, invalid_argument(cat(display_key(request.peer), " is no member of the ring")));
  }
  if (request.kind == ClientFault::Kind::kClock && peer->node != identity_.node) {
    return life_->forward(arrival(requester, deadline), {.body = request, .timeout = {}}, peer->node);
  }
  if (request.kind != ClientFault::Kind::kHeal && request.kind != ClientFault::Kind::kClock &&
      peer->node == identity_.node) {
    return answer(requester,
                  invalid_argument(cat(display_key(request.peer), " is no other member of the ring")));
  }
  answer(requester, {});
  apply(request, peer);
}

void Node::apply(const ClientFault& fault, const Member* peer) {
  const auto warn = [this](const std::string& what) { environment_.log.warning("node", what); };
  switch (fault.kind) {
    case ClientFault::Kind::kHeal:
      faults_.heal();
      return warn("faults are healed");
    case ClientFault::Kind::kDrop:
      faults_.drop(peer->node);
      return warn(cat("traffic with ", peer->name, " is dropped"));
    case ClientFault::Kind::kDelay:
      faults_.delay(peer->node, std::chrono::milliseconds(fault.delay_ms));
      return warn(cat("traffic with ", peer->name, " is delayed"));
    case ClientFault::Kind::kClock:
      clock_.skew(fault.offset_ms * 1000);
      return warn(cat("the clock is put wrong by ", fault.offset_ms, " ms"));
  }
}

void Node::serve(const Requester& requester, const ClientStatistics& request, Time deadline) {
  if (is_other(request.node)) return hand_over(requester, request, deadline);
  answer(requester, {}, statistics(request.reset_latencies));
}

template <class Request>
void Node::serve_converging(const Requester& requester, const Request& request, Time deadline) {
  if (is_other(request.node)) return hand_over(requester, request, deadline);
  life_->on_request(arrival(requester, deadline), request);
}

bool Node::is_other(std::string_view name) const { return !name.empty() && name != identity_.name; }

// To the member that it names.
template <class Request>
void Node::hand_over(const Requester& requester, const Request& request, Time deadline) {
  const Member* other = life_->ring().description().find_member(request.node);
  if (other == nullptr) {
    return answer(requester,
                  invalid_argument(cat("no member of the ring is named ", display_key(request.node))));
  }
  life_->forward(arrival(requester, deadline), {.body = request, .timeout = {}}, other->node);
}

// Handed over by another node: what names this one, and nothing else.
void Node::on_handed_over(const Requester& requester, ClientRequest request) {
  const bool names_this_one = std::visit(
      [this](const auto& body) {
        if constexpr (requires { body.node; } &&
                      !std::is_same_v<std::decay_t<decltype(body)>, ClientLocalGet>)
          return body.node == identity_.name;
        else if constexpr (std::is_same_v<std::decay_t<decltype(body)>, ClientFault>)
          return body.kind == ClientFault::Kind::kClock && body.peer == identity_.name;
        else
          return false;
      },
      request.body);
  if (!names_this_one)
    return answer(requester, invalid_argument("such a request isn't handed on to another node"));
  on_request(requester, std::move(request));
}

Statistics Node::statistics(bool reset_latencies) {
  RequestStatistics& requests = life_->coordinator().statistics();
  Statistics statistics;
  requests.add_to(statistics);
  const auto set = [&](const std::string& name, uint64_t value) {
    statistics[name] = static_cast<double>(value);
  };
  set("requests.under_way", life_->coordinator().under_way());
  set("store.keys", life_->store().leaves().keys());
  set("store.bytes", life_->store().leaves().bytes());
  set("store.commits", life_->commits());
  set("store.staged_bytes", life_->store().staged_bytes());
  set("store.fences", fences_);
  set("store.log_damaged", log_damage_.empty() ? 0 : 1);
  set("store.damaged_files", damaged_files_);
  set("disk.free_bytes", disk_free_bytes_);
  set("disk.puts_refused", life_->coordinator().puts_refused().empty() ? 0 : 1);
  set("node.generation", member_->generation());
  set("members.unreachable", member_->view().unreachable.size());
  set("members.suspected", member_->detector().statistics().suspected);
  set("members.refuted", member_->detector().statistics().refuted);
  set("members.down", member_->detector().statistics().down);
  set("ring.proposals_lost", member_->proposals_lost());
  set("ring.requests_refused_stale", member_->gate_statistics().refused);
  set("ring.requests_held", member_->gate_statistics().held);
  set("ring.requests_held_in_vain", member_->gate_statistics().dropped);
  set("ring.requests_refused_waiting", life_->replica_statistics().refused_by_ring);
  set("store.arrivals_under_floor", life_->replica_statistics().arrivals_under_floor);
  set("clients.connections", door_.statistics().connections_now);
  set("clients.connections_total", door_.statistics().connections_total);
  set("clients.refused_frames", door_.statistics().refused_frames);
  set("clients.dropped_slow_readers", door_.statistics().dropped_slow_readers);
  set("hints.count", life_->hints().total().hints);
  set("hints.bytes", life_->hints().total().bytes);
  set("hints.damaged", life_->hints().damaged());
  set("partitions.incomplete", life_->wholeness().incomplete());
  life_->convergence().add_to(statistics, life_->moment().now, life_->moment().wall_now);
  for (const auto& [name, value] : life_->engine().statistics()) set("engine." + name, value);
  if (reset_latencies) requests.reset_latencies();
  return statistics;
}

void Node::answer(const Requester& requester, Status status, ClientReply::Body body) {
  ClientReply reply;
  reply.status = std::move(status);
  reply.body = std::move(body);
  reply.epoch = epoch();
  if (life_ != nullptr) reply.boot = life_->boot();
  if (requester.forwarded_by && life_ != nullptr) return life_->answer(requester, std::move(reply));
  door_.answer(requester, reply);
}

}  // namespace ringkv
