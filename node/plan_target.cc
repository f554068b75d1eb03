#include "node/plan_target.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "node/member_tables.h"
#include "replication/placer.h"

namespace ringkv {
namespace {

bool is_leaving(const Member& member) { return member.status == MemberStatus::kLeaving; }

// What the placer goes by.
bool is_same_to_placer(const Member& a, const Member& b) {
  return a.name == b.name && a.rack == b.rack && a.weight == b.weight && is_leaving(a) == is_leaving(b);
}

class Target {
 public:
  explicit Target(const RingDescription& ring)
      : ring_(ring),
        before_(ring.members),
        owners_before_(ring.owners),
        after_(ring.members),
        replicas_(ring.replicas) {}

  Status operator()(const PlanJoin& step) {
    const Result<Member> joiner = find_joiner(step.name);
    if (!joiner.ok()) return joiner.status();
    insert_in_order(after_, *joiner);
    return {};
  }

  Status operator()(const PlanLeave& step) {
    const Result<Member*> leaver = find_staying(step.name);
    if (!leaver.ok()) return leaver.status();
    if (ring_.find_member(step.name) == nullptr)
      return invalid_argument(cat(step.name, " is no member yet: `kvctl plan cancel` leaves it out"));
    (*leaver)->status = MemberStatus::kLeaving;
    (*leaver)->voter = false;
    return {};
  }

  // The newcomer stands where the other one did, and what isn't asked for doesn't move.
  Status operator()(const PlanReplace& step) {
    const Result<Member*> old = find_staying(step.name);
    if (!old.ok()) return old.status();
    if (ring_.find_member(step.name) == nullptr)
      return invalid_argument(cat(step.name, " is no member yet: there is nothing to replace"));
    const Result<Member> joiner = find_joiner(step.by);
    if (!joiner.ok()) return joiner.status();
    after_.erase(after_.begin() + (*old - after_.data()));
    insert_in_order(after_, *joiner);

    std::vector<Member> renamed = before_;
    find_in(renamed, step.name)->name = step.by;
    before_ = renamed;
    std::sort(before_.begin(), before_.end(),
              [](const Member& a, const Member& b) { return a.name < b.name; });
    owners_before_ = renumbered(owners_before_, renamed, before_);
    return {};
  }

  Status operator()(const PlanWeight& step) {
    const Result<Member*> member = find_staying(step.name);
    if (!member.ok()) return member.status();
    if (!(step.weight > 0 && step.weight <= 100))
      return invalid_argument(cat("a weight is more than 0 and at most 100, not ", step.weight));
    (*member)->weight = step.weight;
    return {};
  }

  Status operator()(const PlanRack& step) {
    const Result<Member*> member = find_staying(step.name);
    if (!member.ok()) return member.status();
    if (Status named = check_name("rack", step.rack); !named.ok()) return named;
    (*member)->rack = step.rack;
    return {};
  }

  Status operator()(const PlanReplicas& step) {
    if (step.replicas == 0 || step.replicas > kMembersMax)
      return invalid_argument(cat("from 1 to ", kMembersMax, " copies are possible, not ", step.replicas));
    if (Status status = check_bucket_quorums(ring_, step.replicas); !status.ok()) return status;
    replicas_ = step.replicas;
    return {};
  }

  Status operator()(const PlanMove& step) {
    if (ring_.placer == PlacerKind::kHashed) {
      return invalid_argument(
          "the hashed placer puts each partition where the members' names say: single ones can't be moved");
    }
    if (step.partition >= ring_.partitions()) {
      return invalid_argument(
          cat("there is no partition ", step.partition, "; they are 0 to ", ring_.partitions() - 1));
    }
    if (const Result<Member*> member = find_staying(step.name); !member.ok()) return member.status();
    moves_.push_back(step);
    return {};
  }

  Result<RingChange> finish() {
    if (std::all_of(after_.begin(), after_.end(), is_leaving)) {
      return invalid_argument(
          cat(names_of(ring_.members), ring_.members.size() == 1
                                           ? " is the last member that has partitions"
                                           : " can't all leave: somebody must keep the data"));
    }
    if (after_.size() > kMembersMax)
      return invalid_argument(cat(kMembersMax, " members are the most there may be"));
    RingChange change{.members = std::move(after_), .owners = {}, .replicas = replicas_};
    change.owners = placed(change.members);
    for (const PlanMove& move : moves_) {
      const Member* owner = find_in(std::as_const(change.members), move.name);
      if (owner == nullptr || is_leaving(*owner))
        return invalid_argument(cat(move.name, " can't take partition ", move.partition, ": it leaves"));
      change.owners[move.partition] = static_cast<uint16_t>(owner - change.members.data());
    }
    if (change.members == ring_.members && change.owners == ring_.owners && change.replicas == ring_.replicas)
      return invalid_argument("nothing would move: everything is so already");
    return change;
  }

 private:
  // A member that there is, or will be, to the end.
  Result<Member*> find_staying(const std::string& name) {
    Member* member = find_in(after_, name);
    if (member == nullptr && ring_.find_member(name) != nullptr)
      return invalid_argument(cat(name, " is replaced by this plan already"));
    if (member == nullptr) return no_such_member(ring_, name);
    if (is_leaving(*member)) return invalid_argument(cat(name, " is leaving already"));
    return member;
  }

  Result<Member> find_joiner(const std::string& name) const {
    if (ring_.find_member(name) != nullptr) return invalid_argument(cat(name, " is a member already"));
    if (find_in(after_, name) != nullptr) return invalid_argument(cat(name, " joins by this plan already"));
    if (const Member* joiner = ring_.find_waiting(name)) return *joiner;
    return invalid_argument(cat(
        "no node named ", display_key(name),
        " waits to join (start it with `kvnode --join … --plan-only`); waiting: ", names_of(ring_.waiting)));
  }

  OwnerTable placed(const std::vector<Member>& after) const {
    if (ring_.placer == PlacerKind::kHashed) return place_hashed(after, ring_.partitions());
    const bool as_before =
        replicas_ == ring_.replicas &&
        std::equal(before_.begin(), before_.end(), after.begin(), after.end(), is_same_to_placer);
    if (as_before) return owners_before_;
    return place_balanced(before_, owners_before_, after, ring_.partitions(), replicas_);
  }

  const RingDescription& ring_;
  std::vector<Member> before_;  // the present members; a replacement already stands for whom it replaces
  OwnerTable owners_before_;    // by position in these
  std::vector<Member> after_;
  uint32_t replicas_;
  std::vector<PlanMove> moves_;
};

}  // namespace

Result<RingChange> plan_target(const RingDescription& ring, std::span<const PlanStep> steps) {
  Target target(ring);
  for (const PlanStep& step : steps) {
    if (Status status = std::visit(target, step); !status.ok()) return status;
  }
  return target.finish();
}

Status check_bucket_quorums(const RingDescription& ring, uint32_t replicas) {
  for (const BucketDescription& bucket : ring.buckets) {
    if (std::max(bucket.read_quorum, bucket.write_quorum) <= replicas) continue;
    return invalid_argument(cat("bucket '", bucket.name, "' waits for r = ", bucket.read_quorum,
                                " and w = ", bucket.write_quorum, " answers (0: quorum), and there would be ",
                                replicas, " copies: first `kvctl bucket set`"));
  }
  return {};
}

}  // namespace ringkv
