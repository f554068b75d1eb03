#include "replication/former_ranges.h"

#include <algorithm>
#include <utility>
#include <vector>

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
  offer_next_.clear();
  std::shared_ptr<const VersionVector> own_lives;
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    if (ring.is_owner(environment_.view.self(), partition) || !lies_here(partition)) continue;
    environment_.former.insert(partition);
    if (const auto known = before.find(partition); known != before.end()) {
      former_.insert(before.extract(known));
      former_.at(partition).taken_at.reset();
    } else {
      if (own_lives == nullptr)
        own_lives = std::make_shared<const VersionVector>(environment_.store.own_lives().vector);
      former_.emplace(partition, Former{own_lives, moment.now, {}, {}});
    }
    look_whether_taken(partition, former_.at(partition), moment.now);
  }
}

void FormerRanges::on_boot(NodeId node) {
  for (auto& [partition, former] : former_) {
    if (former.taken_by.erase(node) > 0) former.taken_at.reset();
  }
}

void FormerRanges::on(NodeId from, const RangesTaken& taken, Moment moment) {
  for (const Partition partition : taken.partitions) {
    const auto former = former_.find(partition);
    if (former == former_.end()) continue;
    former->second.taken_by.insert(from);
    look_whether_taken(partition, former->second, moment.now);
  }
  offer_next_[from] = moment.now;
}

void FormerRanges::look_whether_taken(Partition partition, Former& former, Time now) {
  const std::vector<NodeId> owners = environment_.view.holders_of(partition);
  const bool by_all = std::all_of(owners.begin(), owners.end(),
                                  [&](NodeId owner) { return former.taken_by.contains(owner); });
  if (by_all && !former.taken_at) former.taken_at = now;
}

uint32_t FormerRanges::untaken() const {
  return static_cast<uint32_t>(std::count_if(
      former_.begin(), former_.end(), [](const auto& former) { return !former.second.taken_at; }));
}

void FormerRanges::tick(Moment moment, MessageOutbox& outbox) {
  if (!former_.empty()) {
    offer(moment, outbox);
    drop_due(moment, outbox);
  }
  if (former_.empty() && to_reclaim_) reclaim(outbox);
}

void FormerRanges::offer(Moment moment, MessageOutbox& outbox) {
  std::map<NodeId, std::vector<Partition>> offers;
  for (const auto& [partition, former] : former_) {
    if (former.taken_at) continue;
    for (const NodeId owner : environment_.view.holders_of(partition)) {
      if (former.taken_by.contains(owner) || !environment_.view.is_reachable(owner)) continue;
      if (moment.now < offer_next_[owner]) continue;
      std::vector<Partition>& partitions = offers[owner];
      if (partitions.size() < kOfferedAtOnce) partitions.push_back(partition);
    }
  }
  for (auto& [owner, partitions] : offers) {
    offer_next_[owner] = moment.now + kOfferAgain;
    outbox.send(owner, RangesOffered{std::move(partitions)});
  }
}

void FormerRanges::drop_due(Moment moment, MessageOutbox& outbox) {
  size_t drops = 0;
  for (auto at = former_.begin(); at != former_.end() && drops < kDroppedAtOnce;) {
    const auto [partition, former] = *at;
    const bool is_due = former.taken_at && moment.now >= *former.taken_at + environment_.settings.drop_grace &&
                        moment.now >= former.since + kSettles;
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

// Once, when all has gone: the disk's files hold the partitions of others in between. Behind what was dropped.
void FormerRanges::reclaim(MessageOutbox& outbox) {
  StorageKeyRange range = storage_key_range(to_reclaim_->first, to_reclaim_->second,
                                            environment_.view.ring().partitions());
  environment_.store.require_sync();
  outbox.staged();
  outbox.send(environment_.settings.self, ReclaimDisk{std::move(range.lower), std::move(range.upper)});
  to_reclaim_.reset();
}

}  // namespace ringkv
