#include "replication/former_ranges.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/plants.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

// An owner that has much to pull takes longer, and takes no second offer meanwhile.
constexpr Duration kOfferAgain = std::chrono::seconds(5);

}  // namespace

bool FormerRanges::lies_here(Partition partition) const {
  const RecordStore& store = environment_.store;
  return store.leaves().partition_total(partition) != Leaf() || !store.floors().floor(partition).empty() ||
         !store.erased(partition).vector.empty();
}

void FormerRanges::set_ring(Moment moment) {
  const Ring& ring = environment_.view.ring();
  std::map<Partition, Former> before = std::exchange(former_, {});
  environment_.former.clear();
  offered_.clear();
  std::shared_ptr<const VersionVector> own_lives;
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    if (ring.is_owner(environment_.view.self(), partition) || !lies_here(partition)) continue;
    environment_.former.insert(partition);
    if (const auto known = before.find(partition); known != before.end()) {
      former_.insert(before.extract(known));
    } else {
      if (own_lives == nullptr)
        own_lives = std::make_shared<const VersionVector>(environment_.store.own_lives().vector);
      former_.emplace(partition, Former{own_lives, moment.now, ring.epoch(), {}, {}});
    }
    look_whether_taken(partition, former_.at(partition), moment.now);
  }
}

void FormerRanges::on_boot(NodeId node) {
  for (auto& [partition, former] : former_) {
    // One that has taken it as an owner, and owns it no more, isn't waited for: nobody would offer it anew.
    if (former.taken_by.erase(node) > 0 && environment_.view.ring().is_owner(node, partition))
      former.taken_at.reset();
  }
}

void FormerRanges::on(NodeId from, const RangesTaken& taken, Moment moment) {
  for (const Partition partition : taken.partitions) {
    const auto former = former_.find(partition);
    // What came of an earlier offer says nothing of what was stamped here since.
    if (former == former_.end() || taken.epoch < former->second.epoch) continue;
    former->second.taken_by.insert(from);
    look_whether_taken(partition, former->second, moment.now);
  }
  offered_[from].next_at = moment.now;
}

void FormerRanges::look_whether_taken(Partition partition, Former& former, Time now) {
  const std::vector<NodeId> owners = environment_.view.holders_of(partition);
  const bool by_all = std::all_of(owners.begin(), owners.end(),
                                  [&](NodeId owner) { return former.taken_by.contains(owner); });
  if (!by_all) former.taken_at.reset();
  if (by_all && !former.taken_at) former.taken_at = now;
}

bool FormerRanges::is_untaken(Partition partition, const Former& former) const {
  if (former.taken_at) return false;
  const RingView& view = environment_.view;
  const std::vector<NodeId> owners = view.holders_of(partition);
  // Never nobody: where all owners are lost this is the last copy.
  return former.taken_by.size() < std::max<size_t>(view.holders_to_hear(owners), 1) ||
         std::any_of(owners.begin(), owners.end(), [&](NodeId owner) {
           return view.is_reachable(owner) && !former.taken_by.contains(owner);
         });
}

uint32_t FormerRanges::untaken() const {
  return static_cast<uint32_t>(std::count_if(former_.begin(), former_.end(), [this](const auto& entry) {
    return is_untaken(entry.first, entry.second);
  }));
}

void FormerRanges::tick(Moment moment, MessageOutbox& outbox) {
  if (!former_.empty()) {
    offer(moment, outbox);
    if (planted(Plant::kKeepFormer)) return;
    drop_due(moment, outbox);
  }
  if (former_.empty() && to_reclaim_) reclaim(outbox);
}

// Beginning behind the last that was offered, so that one that can't be pulled holds up no others.
void FormerRanges::offer(Moment moment, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  for (const Member& member : view.ring().description().members) {
    const NodeId owner = member.node;
    Offered& offered = offered_[owner];
    if (owner == view.self() || moment.now < offered.next_at || !view.is_reachable(owner)) continue;
    RangesOffered offer{.epoch = view.ring().epoch(), .partitions = {}};
    const auto add = [&](const auto& begin, const auto& end) {
      for (auto at = begin; at != end && offer.partitions.size() < kOfferedAtOnce; ++at) {
        const auto& [partition, former] = *at;
        if (former.taken_at || former.taken_by.contains(owner)) continue;
        if (view.ring().is_owner(owner, partition)) offer.partitions.push_back(partition);
      }
    };
    const auto behind = former_.upper_bound(offered.last);
    add(behind, former_.end());
    add(former_.begin(), behind);
    if (offer.partitions.empty()) continue;
    offered = {.next_at = moment.now + kOfferAgain, .last = offer.partitions.back()};
    std::sort(offer.partitions.begin(), offer.partitions.end());
    outbox.send(owner, std::move(offer));
  }
}

void FormerRanges::drop_due(Moment moment, MessageOutbox& outbox) {
  size_t drops = 0;
  for (auto at = former_.begin(); at != former_.end() && drops < kDroppedAtOnce;) {
    const auto& [partition, former] = *at;
    const bool is_due =
        planted(Plant::kDropUntaken) ||
        (former.taken_at && moment.now >= *former.taken_at + environment_.settings.drop_grace &&
         moment.now >= former.since + kSettles);
    if (!is_due) {
      ++at;
      continue;
    }
    environment_.store.drop(partition, *former.own_lives);
    outbox.staged();
    environment_.former.erase(partition);
    ++environment_.drops;
    ++dropped_;
    ++drops;
    to_reclaim_ = to_reclaim_ ? std::pair(std::min(to_reclaim_->first, partition),
                                          std::max(to_reclaim_->second, partition))
                              : std::pair(partition, partition);
    at = former_.erase(at);
  }
}

// Once, when all has gone: the disk's files hold the partitions of others in between. Behind what was
// dropped.
void FormerRanges::reclaim(MessageOutbox& outbox) {
  StorageKeyRange range =
      storage_key_range(to_reclaim_->first, to_reclaim_->second, environment_.view.ring().partitions());
  environment_.store.require_sync();
  outbox.staged();
  outbox.send(environment_.settings.self, ReclaimDisk{std::move(range.lower), std::move(range.upper)});
  to_reclaim_.reset();
}

}  // namespace ringkv
