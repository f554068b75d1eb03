#include "node/newcomers.h"

#include <utility>

#include "base/text.h"
#include "node/ring_changes.h"
#include "node/ring_plans.h"
#include "node/wire_codec.h"
#include "storage/data_directory.h"

namespace ringkv {
namespace {

constexpr Duration kReachBackWithin = std::chrono::seconds(1);

std::string_view name_of(PlacerKind placer) { return placer == PlacerKind::kHashed ? "hashed" : "balanced"; }

template <class Given, class Text>
Status check_setting(std::string_view flag, const std::optional<Given>& given, const Given& of_ring,
                     Text text) {
  if (!given || *given == of_ring) return {};
  return invalid_argument(cat("--", flag, " ", text(*given),
                              " doesn't fit this cluster, which was founded with ", text(of_ring),
                              ": leave the flag out, or join another cluster"));
}

// What was given to the joiner must be the ring's: nobody should find out later that he got something else.
Status check_settings(const JoinRequest& request, const RingDescription& ring) {
  const auto number = [](uint32_t value) { return std::to_string(value); };
  if (Status status = check_setting("replicas", request.replicas, ring.replicas, number); !status.ok())
    return status;
  if (Status status = check_setting("partitions", request.partitions, ring.partitions(), number);
      !status.ok())
    return status;
  return check_setting("placer", request.placer, ring.placer,
                       [](PlacerKind placer) { return std::string(name_of(placer)); });
}

Status check_versions(const JoinRequest& request) {
  if (request.protocol != kProtocolVersion || request.format != kFormatVersion) {
    return invalid_argument(cat("the joiner speaks protocol ", request.protocol, " and stores format ",
                                request.format, ", this cluster ", kProtocolVersion, " and ", kFormatVersion,
                                ": use the same release"));
  }
  if (Status status = check_name("node name", request.name); !status.ok()) return status;
  if (Status status = check_name("rack", request.rack); !status.ok()) return status;
  if (!(request.weight > 0 && request.weight <= 100))
    return invalid_argument(cat("weight must be above 0 and at most 100, not ", request.weight));
  return {};
}

JoinAnswer refusal(Status why) {
  JoinAnswer answer;
  answer.status = std::move(why);
  return answer;
}

// The ring can't take it now: another change, or a plan, comes first.
JoinAnswer refusal_by_ring(Status why) {
  JoinAnswer answer = refusal(std::move(why));
  answer.not_yet = answer.status.code() == StatusCode::kUnavailable;
  return answer;
}

JoinAnswer told_to_wait(const std::string& name) {
  return refusal_by_ring(
      unavailable(cat("a plan must take it in: `kvctl plan join ", name, "` and then `kvctl plan commit`")));
}

ringkv::Member member_of(const JoinRequest& request) {
  return {.node = request.node,
          .disk = request.disk,
          .name = request.name,
          .rack = request.rack,
          .weight = request.weight};
}

PeerState state_of(const JoinRequest& request, NodeId node) {
  PeerState state;
  state.node = node;
  state.boot = request.boot;
  state.peer_address = request.peer_address;
  state.client_address = request.client_address;
  return state;
}

}  // namespace

JoinAnswer Newcomers::accepted() const {
  JoinAnswer answer;
  answer.description = member_.ring().encoded();
  answer.peers = member_.states();
  return answer;
}

void Newcomers::on_join(const JoinRequest& request, Answer answer) {
  const RingDescription& ring = member_.ring().description();
  if (Status status = check_versions(request); !status.ok()) return answer(refusal(std::move(status)));
  if (Status status = check_settings(request, ring); !status.ok()) return answer(refusal(std::move(status)));
  const ringkv::Member* same_name = ring.find_member(request.name);
  if (same_name == nullptr) {
    // Asked before anything is waited for; the edit asks again.
    const ringkv::Member joiner = member_of(request);
    if (request.plan_only) {
      const Result<RingDescription> next = waits(joiner)(ring);
      if (!next.ok()) return answer(refusal_by_ring(next.status()));
      if (*next == ring) return answer(told_to_wait(request.name));
    } else if (Status status = check_may_join(ring, joiner); !status.ok()) {
      return answer(refusal_by_ring(std::move(status)));
    }
    return reach_back(request, answer);
  }
  // A plan has taken it in, or it has joined and the answer got lost.
  if (same_name->disk == request.disk) {
    member_.learn(state_of(request, same_name->node));
    return answer(accepted());
  }
  take_place(request, *same_name, answer);
}

// Whoever can't be reached would only ever be DOWN; and another node at that address isn't he.
void Newcomers::reach_back(const JoinRequest& request, const Answer& answer) {
  links_.identify(request.peer_address, request.node, kReachBackWithin,
                  [this, alive = alive_, request, answer](const Result<PeerWelcome>& found) {
                    if (!*alive) return;
                    if (found.ok() && found->node == request.node)
                      return request.plan_only ? wait(request, answer) : join(request, answer);
                    answer(refusal(unavailable(cat(
                        "node ", request.name, " can't be reached back at ", request.peer_address, " (",
                        found.ok() ? cat("node ", found->name, " is there") : found.status().message(),
                        "): the others must be able to connect to it; see --peer and --advertise-peer"))));
                  });
}

void Newcomers::join(const JoinRequest& request, const Answer& answer) {
  const ringkv::Member joiner = member_of(request);
  // The first put may come in between: the ring that the edit is tried on says which of the two it is.
  change(
      request,
      [joiner](const RingDescription& ring) {
        return ring.open ? begun_join(joiner)(ring) : joined(joiner)(ring);
      },
      answer);
}

void Newcomers::wait(const JoinRequest& request, const Answer& answer) {
  member_.change_ring(waits(member_of(request)), [alive = alive_, request, answer](Status status) {
    if (!*alive) return;
    answer(status.ok() ? told_to_wait(request.name) : refusal_by_ring(std::move(status)));
  });
}

// An empty directory under the name of a member: it takes that member's place if that is DOWN and nobody
// answers where it was.
void Newcomers::take_place(const JoinRequest& request, const ringkv::Member& member, const Answer& answer) {
  const Address address = member_.address(member.node);
  const auto is_up = [request, name = member.name, address](std::string_view how) {
    return forbidden(cat("the name ", name, " belongs to a member at ", address, ", which ", how,
                         ": the newcomer at ", request.peer_address,
                         " needs another name, or that node must be stopped first"));
  };
  const auto ask = [this, alive = alive_, request, answer, is_up, member](const Result<PeerWelcome>& found) {
    if (!*alive) return;
    if (found.ok() && found->node == member.node) return answer(refusal(is_up("is up")));
    if (member.rack != request.rack || member.weight != request.weight) {
      return answer(refusal(invalid_argument(
          cat("member ", member.name, " is in rack ", member.rack, " with weight ", member.weight,
              ", and the newcomer that would take its place says rack ", request.rack, " and weight ",
              request.weight, ": start it with the member's"))));
    }
    if (member_.health(member.node) != Health::kDown) {
      return answer(refusal(unavailable(cat(
          "the name ", member.name, " belongs to a member that doesn't answer but isn't known to be down ",
          "yet: try again in some seconds"))));
    }
    links_.identify(request.peer_address, request.node, kReachBackWithin,
                    [this, alive, request, answer, lost = member.disk](const Result<PeerWelcome>& back) {
                      if (!*alive) return;
                      if (back.ok()) return replace(request, lost, answer);
                      answer(refusal(unavailable(cat("node ", request.name, " can't be reached back at ",
                                                     request.peer_address, " (", back.status().message(),
                                                     "): see --peer and --advertise-peer"))));
                    });
  };
  if (address.empty()) return ask(unavailable("no address of it is known"));
  links_.identify(address, member.node, kReachBackWithin, ask);
}

void Newcomers::replace(const JoinRequest& request, DiskId lost, const Answer& answer) {
  change(request, replaced_disk(request.name, lost, request.disk), answer);
}

void Newcomers::change(const JoinRequest& request, RingEdit edit, const Answer& answer) {
  member_.change_ring(std::move(edit), [this, alive = alive_, request, answer](Status status) {
    if (!*alive) return;
    if (!status.ok()) return answer(refusal_by_ring(std::move(status)));
    const ringkv::Member* member = member_.ring().description().find_member(request.name);
    if (member != nullptr) member_.learn(state_of(request, member->node));
    answer(accepted());
  });
}

}  // namespace ringkv
