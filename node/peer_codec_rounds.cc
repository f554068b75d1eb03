// Hints and rounds.
#include <algorithm>
#include <utility>

#include "base/ring_description.h"
#include "node/peer_codec_bodies.h"
#include "node/peer_codec_packed.h"
#include "node/peer_wire.pb.h"
#include "storage/record_codec.h"

namespace ringkv {
namespace {

constexpr size_t kStorageKeyBytesMax = kKeyBytesMax + 128;
constexpr size_t kLeafSetBytes = kLeavesPerPartition / 8;
// Of one walk: more than any is, and few enough that short entries take no more memory than long ones.
constexpr size_t kKeysMax = 65'536;

// How many items follow, of which there can be so many.
size_t bounded_count(ByteReader& reader, size_t item_bytes_min, size_t items_max) {
  const size_t count = reader.count(item_bytes_min);
  if (count > items_max) reader.fail();
  return reader.ok() ? count : 0;
}

// The message has no more values than these.
void end_of(const ByteReader& reader, PeerIncoming& in) {
  if (!reader.finished()) in.fail("packed list");
  in.drop_values();
}

Partition partition_from(uint32_t partition, PeerIncoming& in) {
  if (partition >= kPartitionsMax) in.fail("partition");
  return partition;
}

template <class Ids>
std::vector<uint32_t> ids_from(const Ids& ids, PeerIncoming& in) {
  if (!in.count(ids.size(), kPartitionsMax, "partitions")) return {};
  return {ids.begin(), ids.end()};
}

std::vector<Partition> partitions_from(const google::protobuf::RepeatedField<uint32_t>& ids,
                                       PeerIncoming& in) {
  std::vector<Partition> partitions = ids_from(ids, in);
  if (!std::is_sorted(partitions.begin(), partitions.end())) in.fail("partitions");
  return partitions;
}

void pack_leaf(const RoundLeaves::LeafDigest& digest, ByteWriter& writer) {
  writer.u8(digest.leaf);
  writer.u64(digest.value.hash.low);
  writer.u64(digest.value.hash.high);
  writer.varint(digest.value.keys);
  writer.varint(digest.value.bytes);
}

RoundLeaves::LeafDigest unpack_leaf(ByteReader& reader) {
  RoundLeaves::LeafDigest digest;
  digest.leaf = reader.u8();
  digest.value.hash.low = reader.u64();
  digest.value.hash.high = reader.u64();
  digest.value.keys = reader.varint();
  digest.value.bytes = reader.varint();
  return digest;
}

void pack(const std::vector<LeafHash>& leaves, ByteWriter& writer) {
  writer.varint(leaves.size());
  for (const LeafHash& leaf : leaves) {
    writer.u8(leaf.leaf);
    writer.u64(leaf.hash.low);
    writer.u64(leaf.hash.high);
  }
}

void pack(const std::vector<LeafAnswer>& answers, ByteWriter& writer) {
  writer.varint(answers.size());
  for (const LeafAnswer& answer : answers) {
    const Hash128 hash = answer.hash.value_or(Hash128());
    writer.u8(answer.leaf);
    writer.u8(answer.hash ? 1 : 0);
    writer.u64(hash.low);
    writer.u64(hash.high);
  }
}

std::vector<LeafAnswer> unpack_leaf_answers(ByteReader& reader) {
  std::vector<LeafAnswer> answers;
  const size_t count = bounded_count(reader, 18, kLeavesPerPartition);
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    LeafAnswer answer{.leaf = reader.u8(), .hash = {}};
    const uint8_t has_hash = reader.u8();
    const uint64_t low = reader.u64();
    const Hash128 hash{low, reader.u64()};
    if (has_hash == 1) answer.hash = hash;
    if (has_hash > 1 || (has_hash == 0 && hash != Hash128())) reader.fail();
    if (!answers.empty() && answer.leaf <= answers.back().leaf) reader.fail();
    answers.push_back(answer);
  }
  return answers;
}

std::vector<LeafHash> unpack_leaf_hashes(ByteReader& reader) {
  std::vector<LeafHash> leaves;
  const size_t count = bounded_count(reader, 17, kLeavesPerPartition);
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    LeafHash leaf{.leaf = reader.u8(), .hash = {}};
    leaf.hash.low = reader.u64();
    leaf.hash.high = reader.u64();
    if (!leaves.empty() && leaf.leaf <= leaves.back().leaf) reader.fail();
    leaves.push_back(leaf);
  }
  return leaves;
}

}  // namespace

// ---- hints

void fill(const HintPut& put, peer_wire::HintPut& body) {
  body.set_intended(put.intended.value);
  body.set_bucket(put.bucket);
  body.set_key(put.key);
  body.set_conflict(static_cast<uint32_t>(put.conflict));
  body.set_buffered(!put.sync);
}

Status append_values(const HintPut& put, WireCodec&, std::string& out) {
  out.append(*put.record);
  return {};
}

HintPut from_body(const peer_wire::HintPut& body, PeerIncoming& in) {
  HintPut put;
  put.intended.value = body.intended();
  put.bucket = in.text(body.bucket(), kNameBytesMax, "bucket");
  put.key = in.text(body.key(), kKeyBytesMax, "key");
  if (put.key.empty()) in.fail("key");
  put.conflict = in.choice(body.conflict(), Conflict::kLastWriterWins, "conflict rule");
  put.sync = !body.buffered();
  put.record = std::make_shared<const std::string>(in.take_all_values());
  return put;
}

void fill(const HintCovered& covered, peer_wire::HintCovered& body) {
  body.set_intended(covered.intended.value);
  body.set_bucket(covered.bucket);
  body.set_key(covered.key);
}

Status append_values(const HintCovered& covered, WireCodec&, std::string& out) {
  ByteWriter writer(out);
  pack(covered.context, writer);
  return {};
}

HintCovered from_body(const peer_wire::HintCovered& body, PeerIncoming& in) {
  HintCovered covered;
  covered.intended.value = body.intended();
  covered.bucket = in.text(body.bucket(), kNameBytesMax, "bucket");
  covered.key = in.text(body.key(), kKeyBytesMax, "key");
  if (covered.key.empty()) in.fail("key");
  ByteReader reader(in.peek_values());
  covered.context = unpack_context(reader);
  end_of(reader, in);
  return covered;
}

// ---- rounds

void fill(const RoundCompare& compare, peer_wire::RoundCompare& body) {
  body.set_level(static_cast<uint32_t>(compare.level));
  body.mutable_ids()->Add(compare.ids.begin(), compare.ids.end());
}

RoundCompare from_body(const peer_wire::RoundCompare& body, PeerIncoming& in) {
  return {0, in.choice(body.level(), DigestLevel::kPartitions, "level"), ids_from(body.ids(), in)};
}

void fill(const RoundDigests& digests, peer_wire::RoundDigests& body) {
  body.set_source(digests.source.value);
  fill_status_of(digests.status, body);
  body.set_level(static_cast<uint32_t>(digests.level));
  body.mutable_ids()->Add(digests.ids.begin(), digests.ids.end());
  body.set_epoch(digests.epoch);
  body.mutable_incomplete()->Add(digests.incomplete.begin(), digests.incomplete.end());
}

Status append_values(const RoundDigests& digests, WireCodec&, std::string& out) {
  ByteWriter writer(out);
  pack(digests.lives, writer);
  writer.varint(digests.digests.size());
  for (const Hash128& digest : digests.digests) {
    writer.u64(digest.low);
    writer.u64(digest.high);
  }
  return {};
}

RoundDigests from_body(const peer_wire::RoundDigests& body, PeerIncoming& in) {
  RoundDigests digests;
  digests.source.value = body.source();
  digests.status = status_from(body, in);
  digests.level = in.choice(body.level(), DigestLevel::kPartitions, "level");
  digests.ids = ids_from(body.ids(), in);
  digests.epoch = body.epoch();
  digests.incomplete = partitions_from(body.incomplete(), in);
  ByteReader reader(in.peek_values());
  digests.lives = unpack_context(reader);
  const size_t count = bounded_count(reader, 16, kPartitionsMax);
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    const uint64_t low = reader.u64();
    digests.digests.push_back({low, reader.u64()});
  }
  if (digests.level != DigestLevel::kPair && digests.digests.size() != digests.ids.size()) reader.fail();
  end_of(reader, in);
  return digests;
}

void fill(const RoundOpen& open, peer_wire::RoundOpen& body) {
  body.set_partition(open.partition);
  body.set_hash_low(open.hash.low);
  body.set_hash_high(open.hash.high);
  body.set_limited(open.limited);
}

RoundOpen from_body(const peer_wire::RoundOpen& body, PeerIncoming& in) {
  return {0, partition_from(body.partition(), in), {body.hash_low(), body.hash_high()}, body.limited()};
}

void fill(const RoundLeaves& leaves, peer_wire::RoundLeaves& body) {
  body.set_source(leaves.source.value);
  fill_status_of(leaves.status, body);
  body.set_partition(leaves.partition);
  body.set_equal(leaves.equal);
  body.set_incomplete(!leaves.whole);
}

Status append_values(const RoundLeaves& leaves, WireCodec&, std::string& out) {
  ByteWriter writer(out);
  pack(leaves.floor, writer);
  pack(leaves.erased, writer);
  pack(leaves.closed, writer);
  writer.varint(leaves.leaves.size());
  for (const RoundLeaves::LeafDigest& digest : leaves.leaves) pack_leaf(digest, writer);
  return {};
}

RoundLeaves from_body(const peer_wire::RoundLeaves& body, PeerIncoming& in) {
  RoundLeaves leaves;
  leaves.source.value = body.source();
  leaves.status = status_from(body, in);
  leaves.partition = partition_from(body.partition(), in);
  leaves.equal = body.equal();
  leaves.whole = !body.incomplete();
  ByteReader reader(in.peek_values());
  leaves.floor = unpack_context(reader);
  leaves.erased = unpack_context(reader);
  leaves.closed = unpack_actors(reader);
  const size_t count = bounded_count(reader, 19, kLeavesPerPartition);
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    const RoundLeaves::LeafDigest digest = unpack_leaf(reader);
    if (!leaves.leaves.empty() && digest.leaf <= leaves.leaves.back().leaf) reader.fail();
    leaves.leaves.push_back(digest);
  }
  end_of(reader, in);
  return leaves;
}

void fill(const RoundWalk& walk, peer_wire::RoundWalk& body) {
  body.set_partition(walk.partition);
  body.set_after(walk.after);
  body.set_records(walk.records);
}

Status append_values(const RoundWalk& walk, WireCodec&, std::string& out) {
  std::string leaves(kLeafSetBytes, '\0');
  for (size_t leaf = 0; leaf < walk.leaves.size(); ++leaf) {
    if (walk.leaves[leaf]) leaves[leaf / 8] = static_cast<char>(leaves[leaf / 8] | 1 << leaf % 8);
  }
  ByteWriter writer(out);
  writer.bytes(leaves);
  writer.varint(walk.storage_keys.size());
  for (const std::string& key : walk.storage_keys) writer.string(key);
  pack(walk.lacking, writer);
  return {};
}

RoundWalk from_body(const peer_wire::RoundWalk& body, PeerIncoming& in) {
  RoundWalk walk;
  walk.partition = partition_from(body.partition(), in);
  walk.after = in.text(body.after(), kStorageKeyBytesMax, "position");
  walk.records = body.records();
  ByteReader reader(in.peek_values());
  const std::string_view leaves = reader.bytes(kLeafSetBytes);
  for (size_t leaf = 0; leaf < walk.leaves.size() && reader.ok(); ++leaf)
    walk.leaves[leaf] = (leaves[leaf / 8] >> leaf % 8 & 1) != 0;
  const size_t keys = bounded_count(reader, 1, kKeysMax);
  for (size_t i = 0; i < keys && reader.ok(); ++i)
    walk.storage_keys.emplace_back(reader.string(kStorageKeyBytesMax));
  walk.lacking = unpack_leaf_hashes(reader);
  end_of(reader, in);
  return walk;
}

void fill(const RoundSlice& slice, peer_wire::RoundSlice& body) {
  body.set_source(slice.source.value);
  fill_status_of(slice.status, body);
  body.set_partition(slice.partition);
  body.set_last(slice.last);
  body.set_at_end(slice.at_end);
}

Status append_values(const RoundSlice& slice, WireCodec&, std::string& out) {
  ByteWriter writer(out);
  pack(slice.floor, writer);
  pack(slice.closed, writer);
  writer.varint(slice.entries.size());
  for (const RoundSlice::Entry& entry : slice.entries) {
    writer.string(entry.storage_key);
    writer.u64(entry.hash.low);
    writer.u64(entry.hash.high);
    pack(entry.dots, writer);
    writer.string(entry.record == nullptr ? std::string_view() : *entry.record);
  }
  pack(slice.answered, writer);
  return {};
}

RoundSlice from_body(const peer_wire::RoundSlice& body, PeerIncoming& in) {
  RoundSlice slice;
  slice.source.value = body.source();
  slice.status = status_from(body, in);
  slice.partition = partition_from(body.partition(), in);
  slice.last = in.text(body.last(), kStorageKeyBytesMax, "position");
  slice.at_end = body.at_end();
  ByteReader reader(in.peek_values());
  slice.floor = unpack_context(reader);
  slice.closed = unpack_actors(reader);
  const size_t entries = bounded_count(reader, 19, kKeysMax);
  for (size_t i = 0; i < entries && reader.ok(); ++i) {
    RoundSlice::Entry& entry = slice.entries.emplace_back();
    entry.storage_key = reader.string(kStorageKeyBytesMax);
    entry.hash.low = reader.u64();
    entry.hash.high = reader.u64();
    entry.dots = unpack_dots(reader);
    const std::string_view record = reader.string(in.peek_values().size());
    if (!record.empty()) entry.record = std::make_shared<const std::string>(record);
  }
  slice.answered = unpack_leaf_answers(reader);
  end_of(reader, in);
  return slice;
}

// ---- former owners

void fill(const RangesOffered& offered, peer_wire::RangesOffered& body) {
  body.set_epoch(offered.epoch);
  body.mutable_partitions()->Add(offered.partitions.begin(), offered.partitions.end());
}

RangesOffered from_body(const peer_wire::RangesOffered& body, PeerIncoming& in) {
  return {body.epoch(), partitions_from(body.partitions(), in)};
}

void fill(const RangesTaken& taken, peer_wire::RangesTaken& body) {
  body.set_epoch(taken.epoch);
  body.mutable_partitions()->Add(taken.partitions.begin(), taken.partitions.end());
}

RangesTaken from_body(const peer_wire::RangesTaken& body, PeerIncoming& in) {
  return {body.epoch(), partitions_from(body.partitions(), in)};
}

}  // namespace ringkv
