#include "replication/round_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv {

std::vector<Partition> shared_partitions(const RingView& view, NodeId a, NodeId b) {
  std::vector<Partition> shared;
  for (Partition partition = 0; partition < view.ring().partitions(); ++partition) {
    if (view.ring().is_owner(a, partition) && view.ring().is_owner(b, partition)) shared.push_back(partition);
  }
  return shared;
}

void RoundSource::on(NodeId from, const RoundCompare& compare, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  RoundDigests reply{.round = compare.round, .source = view.self(), .level = compare.level};
  reply.lives = environment_.store.own_lives();
  reply.epoch = view.ring().epoch();
  const std::vector<Partition> shared = shared_partitions(view, view.self(), from);
  if (environment_.wholeness.incomplete() > 0) {
    std::copy_if(shared.begin(), shared.end(), std::back_inserter(reply.incomplete),
                 [&](Partition partition) { return !environment_.wholeness.is_whole(partition); });
  }
  if (compare.level == DigestLevel::kPartitions) {
    std::vector<Partition> asked;
    std::copy_if(compare.ids.begin(), compare.ids.end(), std::back_inserter(asked), [&](Partition partition) {
      return serves(partition) && view.ring().is_owner(from, partition);
    });
    add_digests(asked, reply);
  } else {
    add_digests(shared, reply);
  }
  outbox.send(from, std::move(reply));
}

// What the own lives claim doesn't hold in limited partitions: without a digest they are opened one by one.
void RoundSource::add_digests(const std::vector<Partition>& shared, RoundDigests& reply) const {
  const LeafTable& leaves = environment_.store.leaves();
  const auto group_of = [&](Partition partition) -> uint32_t {
    if (reply.level == DigestLevel::kPair) return 0;
    return reply.level == DigestLevel::kGroups ? partition / kPartitionsPerGroup : partition;
  };
  for (size_t begin = 0, end = 0; begin < shared.size(); begin = end) {
    const uint32_t group = group_of(shared[begin]);
    bool limited = false;
    for (; end < shared.size() && group_of(shared[end]) == group; ++end)
      limited = limited || environment_.store.floors().is_limited(shared[end]);
    if (limited) continue;
    if (reply.level != DigestLevel::kPair) reply.ids.push_back(group);
    reply.digests.push_back(leaves.hash_of(std::span(shared).subspan(begin, end - begin)));
  }
  if (reply.level == DigestLevel::kPair && shared.empty()) reply.digests = {Hash128()};
}

void RoundSource::on(NodeId from, const RoundOpen& open, MessageOutbox& outbox) {
  const RecordStore& store = environment_.store;
  RoundLeaves reply{.round = open.round, .source = environment_.view.self(), .partition = open.partition};
  reply.status = check_served(open.partition);
  if (reply.status.ok()) {
    reply.floor = store.floor(open.partition);
    reply.erased = store.erased(open.partition);
    reply.equal = store.leaves().partition_hash(open.partition) == open.hash;
    reply.whole = environment_.wholeness.is_whole(open.partition);
    if (!reply.equal || open.limited) reply.closed = store.closed(open.partition);
    const LeafPage* page = reply.equal ? nullptr : store.leaves().page(open.partition);
    if (page != nullptr) {
      for (size_t leaf = 0; leaf < page->size(); ++leaf) {
        if ((*page)[leaf] != Leaf()) reply.leaves.push_back({static_cast<uint8_t>(leaf), (*page)[leaf]});
      }
    }
  }
  outbox.send(from, std::move(reply));
}

bool RoundSource::serves(Partition partition) const {
  const RingView& view = environment_.view;
  return partition < view.ring().partitions() &&
         (view.ring().is_owner(view.self(), partition) || environment_.former.contains(partition));
}

Status RoundSource::check_served(Partition partition) const {
  const RingView& view = environment_.view;
  if (serves(partition)) return {};
  return forbidden(cat(view.name_of(view.self()), " doesn't own partition ", partition, " in epoch ",
                       view.ring().epoch()));
}

Status RoundSource::check_keys(const RoundWalk& walk) const {
  const uint32_t partitions = environment_.view.ring().partitions();
  for (const std::string& key : walk.storage_keys) {
    const std::optional<StorageKeyParts> parts = parse_storage_key(key);
    if (parts && partition_of(parts->token, partitions) == walk.partition) continue;
    return invalid_argument(cat("a key that was asked for isn't of partition ", walk.partition));
  }
  return {};
}

void RoundSource::on(NodeId from, RoundWalk walk, MessageOutbox& outbox) {
  Status refusal = check_served(walk.partition);
  if (refusal.ok()) refusal = check_keys(walk);
  if (refusal.ok() && walks_.size() >= kWalksMax) refusal = overloaded("too many rounds read here");
  if (!refusal.ok()) {
    RoundSlice slice{.round = walk.round, .source = environment_.view.self(), .partition = walk.partition};
    slice.status = std::move(refusal);
    return outbox.send(from, std::move(slice));
  }
  const uint64_t ticket = environment_.next_number();
  Floor floor = environment_.store.floor(walk.partition);
  std::vector<Actor> closed = environment_.store.closed(walk.partition);
  walks_.emplace(ticket,
                 Walk{from, std::move(walk), std::move(floor), std::move(closed), environment_.drops});
  if (const BatchNumber staged = environment_.store.last_staged(); staged != 0) {
    waiting_.emplace(staged, ticket);
  } else {
    read(ticket, outbox);
  }
}

void RoundSource::on_committed(BatchNumber batch, MessageOutbox& outbox) {
  while (!waiting_.empty() && waiting_.begin()->first <= batch) {
    const uint64_t ticket = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    read(ticket, outbox);
  }
}

void RoundSource::read(uint64_t ticket, MessageOutbox& outbox) {
  const RoundWalk& asked = walks_.at(ticket).asked;
  outbox.send(environment_.view.self(), ReadRange{ticket,
                                                  {.partition = asked.partition,
                                                   .ring_partitions = environment_.view.ring().partitions(),
                                                   .leaves = asked.leaves,
                                                   .after = asked.after,
                                                   .storage_keys = asked.storage_keys,
                                                   .leaves_elsewhere = asked.lacking,
                                                   .records = asked.records}});
}

bool RoundSource::on(RangeRead& read, MessageOutbox& outbox) {
  const auto at = walks_.find(read.ticket);
  if (at == walks_.end()) return false;
  Walk walk = std::move(at->second);
  walks_.erase(at);
  RoundSlice slice{
      .round = walk.asked.round, .source = environment_.view.self(), .partition = walk.asked.partition};
  slice.status = std::move(read.status);
  // What isn't there may have gone with a partition, not by what the floor says.
  if (walk.drops != environment_.drops)
    slice.status = overloaded("something was dropped meanwhile: ask again");
  if (!slice.status.ok()) return outbox.send(walk.from, std::move(slice)), true;
  slice.floor = std::move(walk.floor);
  slice.closed = std::move(walk.closed);
  slice.last = std::move(read.slice.last);
  slice.at_end = read.slice.at_end;
  slice.answered = std::move(read.slice.answered);
  for (RangeEntry& entry : read.slice.entries) {
    if (entry.record != nullptr) {
      if (!entry.head.dots.empty()) {
        ++environment_.statistics.keys_sent;
        environment_.statistics.bytes_sent += entry.record->size();
      }
      if (entry.head.context.stripped) entry.record = filled(*entry.record);
    } else if (entry.head.dots.empty()) {
      environment_.store.restore(entry.head.context);
      auto bare = std::make_shared<std::string>();
      encode_record({entry.head.context, {}}, entry.head.hash, 0, *bare);
      entry.record = std::move(bare);
    }
    slice.entries.push_back(
        {std::move(entry.storage_key), entry.head.hash, std::move(entry.head.dots), std::move(entry.record)});
  }
  outbox.send(walk.from, std::move(slice));
  return true;
}

SharedBytes RoundSource::filled(const std::string& bytes) const {
  Result<Record> record = decode_record(bytes);
  const Result<RecordHead> head = decode_record_head(bytes);
  if (!record.ok() || !head.ok()) return std::make_shared<const std::string>(bytes);  // the puller says so
  environment_.store.restore(record->context);
  auto whole = std::make_shared<std::string>();
  encode_record(*record, head->hash, head->content_bytes, *whole);
  return whole;
}

}  // namespace ringkv
