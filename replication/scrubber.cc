#include "replication/scrubber.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr int kLooksMax = 4;
constexpr size_t kSliceBytes = size_t{256} << 10;
constexpr uint32_t kReadsPerTick = 64;  // most partitions of a small store are empty
constexpr size_t kBytesPerTick = size_t{512} << 10;
constexpr size_t kWaitingMax = 16;
constexpr size_t kProblemsMax = 100;

}  // namespace

void Scrubber::on(const Arrival& arrival, const ClientScrub&, MessageOutbox& outbox) {
  if (waiting_.size() >= kWaitingMax) {
    return environment_.answer(arrival.requester,
                               {.status = overloaded("several scrubs are under way already")}, outbox);
  }
  waiting_.push_back({arrival.requester, arrival.deadline, environment_.view.ring().partitions()});
}

void Scrubber::tick(Moment moment, MessageOutbox& outbox) {
  const uint32_t partitions = environment_.view.ring().partitions();
  const Duration pause = environment_.settings.scrub_interval / partitions;
  if (!next_) {
    // Anywhere: a node that is often restarted must not look at the same first ones for ever.
    next_ = static_cast<Partition>(environment_.settings.boot.value % partitions);
    due_ = moment.now + pause;
  }
  reads_left_ = kReadsPerTick;
  bytes_left_ = kBytesPerTick;
  drop_late(moment.now, outbox);
  if (look_) return read_on(outbox);
  const bool is_due = pause > Duration() && moment.now >= due_;
  if (is_due) due_ = moment.now + pause;
  if (is_due || !waiting_.empty()) begin_partition(outbox);
}

void Scrubber::drop_late(Time now, MessageOutbox& outbox) {
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (now < waiting.deadline) return false;
    environment_.answer(waiting.requester,
                        {.status = unavailable(cat("timed out: ", waiting.report.partitions, " of ",
                                                   waiting.report.partitions + waiting.partitions_left,
                                                   " partitions were scrubbed"))},
                        outbox);
    return true;
  });
}

void Scrubber::begin_partition(MessageOutbox& outbox) {
  look_ = Look();
  look_->partition = *next_;
  look_->leaves.set();
  for (Waiting& waiting : waiting_) waiting.begun = true;
  next_ = (*next_ + 1) % environment_.view.ring().partitions();
  begin_look(outbox);
}

void Scrubber::begin_look(MessageOutbox& outbox) {
  for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf) {
    look_->noted[leaf] = environment_.store.leaves().at(leaf_id(leaf));
  }
  look_->found = {};
  look_->after.clear();
  look_->awaited = environment_.store.last_staged();
  if (look_->awaited == 0) read_on(outbox);
}

void Scrubber::on_committed(BatchNumber batch, Moment, MessageOutbox& outbox) {
  if (!look_ || look_->awaited == 0 || batch < look_->awaited) return;
  look_->awaited = 0;
  read_on(outbox);
}

void Scrubber::read_on(MessageOutbox& outbox) {
  if (look_->awaited != 0 || look_->ticket != 0 || reads_left_ == 0 || bytes_left_ == 0) return;
  --reads_left_;
  look_->ticket = environment_.next_number();
  outbox.send(environment_.settings.self,
              ReadRange{.ticket = look_->ticket,
                        .step = {.partition = look_->partition,
                                 .ring_partitions = environment_.view.ring().partitions(),
                                 .leaves = look_->leaves,
                                 .after = look_->after,
                                 .storage_keys = {},
                                 .records = true,
                                 .bytes_max = kSliceBytes}});
}

bool Scrubber::on(RangeRead& read, Moment, MessageOutbox& outbox) {
  if (!look_ || look_->ticket != read.ticket) return false;
  look_->ticket = 0;
  if (!read.status.ok()) {
    report_problem(cat("partition ", look_->partition, ": ", read.status.message()));
    end_partition(outbox);
    return true;
  }
  for (const RangeEntry& entry : read.slice.entries) take(entry);
  look_->after = std::move(read.slice.last);
  if (read.slice.at_end) {
    end_look(outbox);
  } else {
    read_on(outbox);
  }
  return true;
}

void Scrubber::take(const RangeEntry& entry) {
  ++environment_.statistics.scrubbed_records;
  bytes_left_ -= std::min(bytes_left_, entry.record->size());
  if (look_->number == 1) {
    change_reports([](ScrubReport& report) { ++report.records; });
    check_content(entry);
  }
  const std::optional<StorageKeyParts> parts = parse_storage_key(entry.storage_key);
  if (!parts) return report_problem(cat("record under ", display_key(entry.storage_key), " has no key"));
  const LeafId id = leaf_of(parts->token, environment_.view.ring().partitions());
  Leaf& leaf = look_->found[id % kLeavesPerPartition];
  leaf.hash ^= entry.head.hash;
  leaf.keys += entry.head.content_bytes > 0 ? 1 : 0;
  leaf.bytes += entry.head.content_bytes;
}

void Scrubber::check_content(const RangeEntry& entry) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(entry.storage_key);
  if (!parts) return;
  const Result<Record> record = decode_record(*entry.record);
  if (!record.ok()) {
    return report_problem(cat("key ", display_key(parts->key), ": ", record.status().message()));
  }
  const KeyDigest digest = digest_of(parts->bucket, parts->key);
  if (environment_.view.hasher().hash(digest, *record) == entry.head.hash &&
      content_bytes(parts->key, *record) == entry.head.content_bytes)
    return;
  report_problem(
      cat("key ", display_key(parts->key), ": its content doesn't have the hash that is stored with it"));
}

void Scrubber::end_look(MessageOutbox& outbox) {
  LeafSet again, suspected;
  for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf) {
    if (!look_->leaves[leaf]) continue;
    const Leaf now = environment_.store.leaves().at(leaf_id(leaf));
    if (now != look_->noted[leaf]) {
      again.set(leaf);
    } else if (now == look_->found[leaf]) {
      continue;
    } else if (look_->suspected[leaf] && look_->found_before[leaf] == look_->found[leaf]) {
      environment_.store.correct_leaf(leaf_id(leaf), look_->found[leaf]);
      outbox.staged();
      ++environment_.statistics.leaves_corrected;
      change_reports([](ScrubReport& report) { ++report.leaves_corrected; });
    } else {
      again.set(leaf);
      suspected.set(leaf);
    }
  }
  if (again.none() || look_->number == kLooksMax) return end_partition(outbox);
  ++look_->number;
  look_->leaves = again;
  look_->suspected = suspected;
  look_->found_before = look_->found;
  begin_look(outbox);
}

void Scrubber::end_partition(MessageOutbox& outbox) {
  look_.reset();
  for (Waiting& waiting : waiting_) {
    if (!waiting.begun) continue;
    ++waiting.report.partitions;
    --waiting.partitions_left;
  }
  while (!waiting_.empty() && waiting_.front().partitions_left == 0) {
    environment_.answer(waiting_.front().requester, {.body = std::move(waiting_.front().report)}, outbox);
    waiting_.pop_front();
  }
  if (!waiting_.empty() && reads_left_ > 0 && bytes_left_ > 0) begin_partition(outbox);
}

void Scrubber::report_problem(const std::string& problem) {
  ++environment_.statistics.scrub_problems;
  change_reports([&](ScrubReport& report) {
    if (report.problems.size() < kProblemsMax) report.problems.push_back(problem);
  });
}

void Scrubber::fail_all(const Status& why, MessageOutbox& outbox) {
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    environment_.answer(waiting.requester, {.status = why}, outbox);
  }
  look_.reset();
}

}  // namespace ringkv
