#include "replication/scan_request.h"

#include <algorithm>

#include "base/text.h"
#include "replication/quorum.h"
#include "replication/reply_merge.h"
#include "storage/record_codec.h"
#include "storage/scan.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr size_t kTokenBytes = 8;

size_t bytes_of(const ReplicaScanReply& reply) {
  size_t bytes = 0;
  for (const ReplicaScanReply::Entry& entry : reply.entries) {
    bytes += entry.storage_key.size() + entry.record->size();
  }
  return bytes;
}

size_t bytes_of(const ScanEntry& entry) {
  size_t bytes = entry.key.size();
  for (const std::string& value : entry.values) bytes += value.size();
  return bytes;
}

}  // namespace

// A cursor is some storage key, which begins with its token.
Partition ScanRequest::partition_at(std::string_view storage_key, const RingView& view) {
  Token token = 0;
  for (size_t i = 0; i < kTokenBytes; ++i) {
    token = token << 8 | (i < storage_key.size() ? static_cast<uint8_t>(storage_key[i]) : 0);
  }
  return partition_of(token, view.ring().partitions());
}

// Those that are asked already, or are this node, first: one message a node serves all its partitions.
std::vector<NodeId> ScanRequest::usable_owners(const RingView& view, Partition partition) const {
  std::vector<NodeId> usable;
  for (const NodeId owner : view.owners_of(partition)) {
    const bool failed = std::any_of(failed_.begin(), failed_.end(),
                                    [owner](const Failure& failure) { return failure.node == owner; });
    if (!failed && view.is_reachable(owner)) usable.push_back(owner);
  }
  std::stable_sort(usable.begin(), usable.end(), [&](NodeId a, NodeId b) {
    const auto rank = [&](NodeId node) { return node == view.self() ? 0 : find(node) != nullptr ? 1 : 2; };
    return rank(a) < rank(b);
  });
  return usable;
}

uint32_t ScanRequest::owners_needed(const RingView& view, Partition partition) const {
  const auto owners = static_cast<uint32_t>(view.ring().read_list(partition).size());
  const BucketDescription* bucket = view.ring().description().find_bucket(question_.bucket);
  if (bucket == nullptr || bucket->read_quorum == 0) return majority_of(owners);
  return std::min(bucket->read_quorum, owners);
}

// Adds the partition to what its owners are asked, or says why it can't be read.
Status ScanRequest::plan(const RingView& view, Partition partition) {
  const std::vector<NodeId> owners = view.owners_of(partition);
  const uint32_t needed = owners_needed(view, partition);
  std::vector<NodeId> usable = usable_owners(view, partition);
  if (usable.size() >= needed) {
    usable.resize(needed);
    for (const NodeId node : usable) part_of(node).asked.partitions.push_back(partition);
    return {};
  }
  OwnerFailures failures;
  failures.add(view, owners);
  for (const Failure& failure : failed_) {
    const bool is_owner = std::find(owners.begin(), owners.end(), failure.node) != owners.end();
    if (is_owner && view.is_reachable(failure.node)) failures.add(failure.node, failure.why);
  }
  return unavailable(cat("partition ", partition, ": ", usable.size(), " of the ", needed,
                         " owners that a scan needs can be read", failures.text(view)));
}

const ScanRequest::Part* ScanRequest::find(NodeId node) const {
  const auto at =
      std::find_if(parts_.begin(), parts_.end(), [node](const Part& part) { return part.node == node; });
  return at == parts_.end() ? nullptr : &*at;
}

ScanRequest::Part& ScanRequest::part_of(NodeId node) {
  if (const Part* part = find(node)) return const_cast<Part&>(*part);
  Part& part = parts_.emplace_back();
  part.node = node;
  part.asked = {.bucket = question_.bucket,
                .prefix = question_.prefix,
                .after = position_,
                .records_max = static_cast<uint32_t>(question_.limit - entries_.size() + 16),
                .values = question_.values,
                .deadline = question_.deadline};
  return part;
}

std::vector<std::pair<NodeId, ReplicaScan>> ScanRequest::begin_round(const RingView& view, Time now) {
  parts_.clear();
  held_bytes_ = 0;
  round_started_ = now;
  const Partition all = view.ring().partitions();
  const Partition first = partition_at(position_, view);
  const bool with_floors = this->with_floors(view);
  const Partition window =
      with_floors ? std::min<Partition>(kFlooredPartitionsMax, with_floors_until_ - first) : kWindow;
  Partition end = first;
  while (end < all && end < first + window) {
    blocked_ = plan(view, end);
    if (!blocked_.ok()) break;
    ++end;
  }
  window_end_ = end == all ? std::string() : first_storage_key(end, all);
  std::vector<std::pair<NodeId, ReplicaScan>> asks;
  asks.reserve(parts_.size());
  for (Part& part : parts_) {
    part.asked.with_floors = with_floors;
    asks.emplace_back(part.node, part.asked);
  }
  return asks;
}

bool ScanRequest::on_reply(ReplicaScanReply reply) {
  const Part* part = find(reply.replica);
  if (part == nullptr || part->reply || reply.status.code() == StatusCode::kStaleEpoch) return false;
  if (!reply.status.ok()) {
    failed_.push_back({reply.replica, reply.status.message()});
    return true;
  }
  const auto is_ordered = [](const ReplicaScanReply::Entry& a, const ReplicaScanReply::Entry& b) {
    return a.storage_key < b.storage_key;
  };
  const bool is_sound = std::is_sorted(reply.entries.begin(), reply.entries.end(), is_ordered) &&
                        (reply.entries.empty() || reply.entries.front().storage_key > position_) &&
                        (reply.at_end || reply.last > position_);
  if (!is_sound) {
    failed_.push_back({reply.replica, "has answered with keys out of order"});
    return true;
  }
  held_bytes_ += bytes_of(reply);
  part_of(reply.replica).reply = std::move(reply);
  return false;
}

// As long as each of the window's partitions still has its owners.
bool ScanRequest::give_up_silent(const RingView& view, Time now) {
  if (now < round_started_ + kPatience) return false;
  round_started_ = now;
  const size_t failed_before = failed_.size();
  std::vector<Partition> affected;
  for (const Part& part : parts_) {
    if (part.reply || part.node == view.self()) continue;
    failed_.push_back({part.node, "has not answered"});
    affected.insert(affected.end(), part.asked.partitions.begin(), part.asked.partitions.end());
  }
  const bool others_suffice = std::all_of(affected.begin(), affected.end(), [&](Partition partition) {
    return usable_owners(view, partition).size() >= owners_needed(view, partition);
  });
  if (!affected.empty() && others_suffice) return true;
  failed_.resize(failed_before);
  return false;
}

std::vector<NodeId> ScanRequest::awaited() const {
  std::vector<NodeId> nodes;
  for (const Part& part : parts_) {
    if (!part.reply) nodes.push_back(part.node);
  }
  return nodes;
}

std::optional<ReplicaScan> ScanRequest::unanswered(NodeId node) const {
  const Part* part = find(node);
  if (part == nullptr || part->reply) return std::nullopt;
  return part->asked;
}

bool ScanRequest::round_complete() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.reply.has_value(); });
}

std::string ScanRequest::horizon() const {
  std::string horizon = window_end_;
  for (const Part& part : parts_) {
    const ReplicaScanReply& reply = *part.reply;
    if (!reply.at_end && (horizon.empty() || reply.last < horizon)) horizon = reply.last;
  }
  return horizon;
}

Result<ScanRequest::Copies> ScanRequest::copies_up_to(const std::string& horizon,
                                                      const RingView& view) const {
  Copies copies;
  for (const Part& part : parts_) {
    for (const ReplicaScanReply::Entry& entry : part.reply->entries) {
      if (!horizon.empty() && entry.storage_key > horizon) break;
      Result<Record> record = decode_record(*entry.record);
      const Result<RecordHead> head = decode_record_head(*entry.record);
      if (!record.ok()) return corruption(cat(view.name_of(part.node), ": ", record.status().message()));
      if (!head.ok()) return corruption(cat(view.name_of(part.node), ": ", head.status().message()));
      copies[entry.storage_key].push_back({part.node, std::move(*record), head->hash});
    }
  }
  return copies;
}

// Where none of them is live nothing can come to be.
bool ScanRequest::differ(Partition partition, const std::vector<Copy>& copies, const RingView& view,
                         uint64_t now_ms) const {
  if (std::none_of(copies.begin(), copies.end(),
                   [&](const Copy& copy) { return copy.record.has_live_value(now_ms); }))
    return false;
  return copies.size() < owners_needed(view, partition) ||
         std::any_of(copies.begin(), copies.end(),
                     [&](const Copy& copy) { return copy.hash != copies.front().hash; });
}

// Owners that have nothing of the key say so by their floors too.
Record ScanRequest::resolved(Partition partition, std::vector<Copy> copies) const {
  std::vector<ReplicaGetReply> replies;
  for (const Part& part : parts_) {
    const auto& asked = part.asked.partitions;
    if (!std::binary_search(asked.begin(), asked.end(), partition)) continue;
    ReplicaGetReply& reply = replies.emplace_back();
    reply.with_floor = true;
    reply.closed = part.reply->closed;
    for (const ReplicaScanReply::PartitionFloor& at : part.reply->floors) {
      if (at.partition == partition) reply.floor = at.floor;
    }
    for (Copy& copy : copies) {
      if (copy.node == part.node) reply.record = std::move(copy.record);
    }
  }
  std::vector<const ReplicaGetReply*> all;
  all.reserve(replies.size());
  for (const ReplicaGetReply& reply : replies) all.push_back(&reply);
  return merged(all);
}

Status ScanRequest::finish_round(const RingView& view, uint64_t now_ms) {
  const std::string horizon = this->horizon();
  Result<Copies> found = copies_up_to(horizon, view);
  if (!found.ok()) return found.status();
  const bool ask_again =
      !with_floors(view) && std::any_of(found->begin(), found->end(), [&](const auto& one) {
        return differ(partition_at(one.first, view), one.second, view, now_ms);
      });
  if (ask_again) {
    with_floors_until_ = window_end_.empty() ? view.ring().partitions() : partition_at(window_end_, view);
  } else {
    take(*found, horizon, view, now_ms);
  }
  parts_.clear();
  held_bytes_ = 0;
  return {};
}

void ScanRequest::take(const Copies& found, const std::string& horizon, const RingView& view,
                       uint64_t now_ms) {
  for (const auto& [storage_key, copies] : found) {
    if (entries_.size() >= question_.limit || page_bytes_ >= kPageBytesMax) {
      full_ = true;
      return;
    }
    ++records_seen_;
    const Partition partition = partition_at(storage_key, view);
    Record record = differ(partition, copies, view, now_ms) ? resolved(partition, std::move(copies))
                                                            : std::move(copies.front().record);
    if (question_.conflict == Conflict::kLastWriterWins) keep_winner(record);
    add(storage_key, record, now_ms);
    position_ = storage_key;
  }
  at_end_ = horizon.empty();
  position_ = horizon;
  full_ = entries_.size() >= question_.limit || page_bytes_ >= kPageBytesMax ||
          records_seen_ >= kRecordsSeenMax || ++rounds_ >= kRoundsMax;
}

void ScanRequest::add(std::string_view storage_key, const Record& record, uint64_t now_ms) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
  if (!parts || !record.has_live_value(now_ms)) return;
  ScanEntry entry{std::string(parts->key), {}};
  if (question_.values) entry.values = live_values(record, now_ms);
  page_bytes_ += bytes_of(entry);
  entries_.push_back(std::move(entry));
}

ScanPage ScanRequest::take_page() {
  return {std::move(entries_), at_end_ ? std::string() : base64(position_)};
}

}  // namespace ringkv
