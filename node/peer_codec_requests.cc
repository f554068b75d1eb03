// Copies, reads, and what is forwarded.
#include <utility>

#include "base/ring_description.h"
#include "base/text.h"
#include "node/peer_codec_bodies.h"
#include "node/peer_codec_packed.h"
#include "node/peer_wire.pb.h"
#include "storage/record_codec.h"

namespace ringkv {
namespace {

// What people look at needn't be whole: of hints that are larger together the last ones come without values.
constexpr size_t kHintBytesShown = size_t{256} << 10;

std::string packed_inspection(const ReplicaGetReply& reply) {
  std::string packed;
  if (reply.blocked_by.empty() && reply.hints.empty()) return packed;
  ByteWriter writer(packed);
  pack(reply.blocked_by, writer);
  writer.varint(reply.hints.size());
  for (const ReplicaGetReply::HeldHint& hint : reply.hints) {
    Record record = hint.record;
    std::string bytes;
    encode_record(record, {}, 0, bytes);
    if (packed.size() + bytes.size() > kHintBytesShown) {
      for (Version& version : record.versions) version.value.clear();
      bytes.clear();
      encode_record(record, {}, 0, bytes);
    }
    writer.u64(hint.intended.value);
    writer.string(bytes);
  }
  return packed;
}

void unpack_inspection(const std::string& packed, ReplicaGetReply& reply, PeerIncoming& in) {
  if (packed.empty()) return;
  ByteReader reader(packed);
  reply.blocked_by = unpack_dots(reader);
  for (size_t left = reader.count(9); left > 0 && reader.ok(); --left) {
    const NodeId intended{reader.u64()};
    Result<Record> record = decode_record(reader.string(packed.size()));
    if (!record.ok()) return in.fail("hint");
    reply.hints.push_back({intended, *std::move(record)});
  }
  if (!reader.finished()) in.fail("inspection");
}

std::string packed_floor(const ReplicaGetReply& reply) {
  std::string packed;
  if (!reply.with_floor) return packed;
  ByteWriter writer(packed);
  pack(reply.floor, writer);
  pack(reply.closed, writer);
  return packed;
}

void unpack_floor(const std::string& packed, ReplicaGetReply& reply, PeerIncoming& in) {
  if (packed.empty()) return;
  ByteReader reader(packed);
  reply.with_floor = true;
  reply.floor = unpack_vector(reader);
  reply.closed = unpack_actors(reader);
  if (!reader.finished()) in.fail("floor");
}

// The frame that the values are, if they are one and nothing else.
std::optional<Frame> embedded_frame(PeerIncoming& in) {
  const std::string_view values = in.peek_values();
  const Result<std::optional<Frame>> frame = read_frame(values, kFrameBytesMax);
  if (frame.ok() && frame->has_value() && (*frame)->bytes == values.size()) return **frame;
  in.fail("frame of a client");
  return std::nullopt;
}

}  // namespace

// ---- copies

void fill(const ReplicaPut& put, peer_wire::ReplicaPut& body) {
  body.set_bucket(put.bucket);
  body.set_key(put.key);
  body.set_conflict(static_cast<uint32_t>(put.conflict));
  body.set_source(static_cast<uint32_t>(put.source));
  body.set_buffered(!put.sync);
}

Status append_values(const ReplicaPut& put, WireCodec&, std::string& out) {
  out.append(*put.record);
  return {};
}

ReplicaPut from_body(const peer_wire::ReplicaPut& body, PeerIncoming& in) {
  ReplicaPut put;
  put.bucket = in.text(body.bucket(), kNameBytesMax, "bucket");
  put.key = in.text(body.key(), kKeyBytesMax, "key");
  if (put.key.empty()) in.fail("key");
  put.conflict = in.choice(body.conflict(), Conflict::kLastWriterWins, "conflict rule");
  put.source = in.choice(body.source(), Source::kTransfer, "source");
  put.sync = !body.buffered();
  put.record = std::make_shared<const std::string>(in.take_all_values());
  return put;
}

void fill(const ReplicaPutAck& ack, peer_wire::ReplicaPutAck& body) {
  body.set_replica(ack.replica.value);
  fill_status_of(ack.status, body);
  body.set_hint_for(ack.hint_for.value);
}

ReplicaPutAck from_body(const peer_wire::ReplicaPutAck& body, PeerIncoming& in) {
  return {0, {body.replica()}, status_from(body, in), {body.hint_for()}};
}

// ---- reads

void fill(const ReplicaGet& get, peer_wire::ReplicaGet& body) {
  body.set_bucket(get.bucket);
  body.set_key(get.key);
  body.set_digest(get.digest);
  body.set_inspect(get.inspect);
  body.set_with_floor(get.with_floor);
}

ReplicaGet from_body(const peer_wire::ReplicaGet& body, PeerIncoming& in) {
  ReplicaGet get;
  get.bucket = in.text(body.bucket(), kNameBytesMax, "bucket");
  get.key = in.text(body.key(), kKeyBytesMax, "key");
  if (get.key.empty()) in.fail("key");
  get.digest = body.digest();
  get.inspect = body.inspect();
  get.with_floor = body.with_floor();
  return get;
}

void fill(const ReplicaGetReply& reply, peer_wire::ReplicaGetReply& body) {
  body.set_replica(reply.replica.value);
  fill_status_of(reply.status, body);
  body.set_digest(reply.digest);
  body.set_hash_low(reply.hash.low);
  body.set_hash_high(reply.hash.high);
  body.set_floor(packed_floor(reply));
  body.set_inspection(packed_inspection(reply));
  body.set_incomplete(!reply.whole);
}

// An absent record that nothing was ever seen of has no bytes.
Status append_values(const ReplicaGetReply& reply, WireCodec&, std::string& out) {
  if (reply.record == Record()) return {};
  encode_record(reply.record, reply.hash, 0, out);
  return {};
}

ReplicaGetReply from_body(const peer_wire::ReplicaGetReply& body, PeerIncoming& in) {
  ReplicaGetReply reply;
  reply.replica.value = body.replica();
  reply.status = status_from(body, in);
  reply.digest = body.digest();
  reply.hash = {body.hash_low(), body.hash_high()};
  unpack_floor(body.floor(), reply, in);
  unpack_inspection(body.inspection(), reply, in);
  reply.whole = !body.incomplete();
  if (in.peek_values().empty()) return reply;
  Result<Record> record = decode_record(in.peek_values());
  if (record.ok()) {
    in.drop_values();
    reply.record = std::move(*record);
  } else {
    in.fail("record");
  }
  return reply;
}

void fill(const ReplicaScan& scan, peer_wire::ReplicaScan& body) {
  body.set_bucket(scan.bucket);
  body.set_prefix(scan.prefix);
  body.set_after(scan.after);
  body.mutable_partitions()->Add(scan.partitions.begin(), scan.partitions.end());
  body.set_records_max(scan.records_max);
  body.set_values(scan.values);
  body.set_with_floors(scan.with_floors);
}

ReplicaScan from_body(const peer_wire::ReplicaScan& body, PeerIncoming& in) {
  ReplicaScan scan;
  scan.bucket = in.text(body.bucket(), kNameBytesMax, "bucket");
  scan.prefix = body.prefix();
  scan.after = body.after();
  if (in.count(body.partitions_size(), kPartitionsMax, "partitions"))
    scan.partitions.assign(body.partitions().begin(), body.partitions().end());
  scan.records_max = body.records_max();
  scan.values = body.values();
  scan.with_floors = body.with_floors();
  return scan;
}

void fill(const ReplicaScanReply& reply, peer_wire::ReplicaScanReply& body) {
  body.set_replica(reply.replica.value);
  fill_status_of(reply.status, body);
  for (const ReplicaScanReply::Entry& entry : reply.entries) {
    body.add_storage_key_bytes(static_cast<uint32_t>(entry.storage_key.size()));
    body.add_record_bytes(entry.record->size());
  }
  body.set_last(reply.last);
  body.set_at_end(reply.at_end);
  if (reply.floors.empty()) return;
  ByteWriter writer(*body.mutable_floors());
  pack(reply.closed, writer);
  for (const ReplicaScanReply::PartitionFloor& at : reply.floors) {
    writer.varint(at.partition);
    pack(at.floor, writer);
  }
}

Status append_values(const ReplicaScanReply& reply, WireCodec&, std::string& out) {
  for (const ReplicaScanReply::Entry& entry : reply.entries) {
    out.append(entry.storage_key);
    out.append(*entry.record);
  }
  return {};
}

ReplicaScanReply from_body(const peer_wire::ReplicaScanReply& body, PeerIncoming& in) {
  ReplicaScanReply reply;
  reply.replica.value = body.replica();
  reply.status = status_from(body, in);
  reply.last = body.last();
  reply.at_end = body.at_end();
  ByteReader floors(body.floors());
  if (!floors.at_end()) reply.closed = unpack_actors(floors);
  while (!floors.at_end() && floors.ok()) {
    const uint64_t partition = floors.varint();
    const bool in_order = reply.floors.empty() || partition > reply.floors.back().partition;
    if (!in_order || partition >= kPartitionsMax || reply.floors.size() == kFlooredPartitionsMax) {
      in.fail("floors");
      break;
    }
    reply.floors.push_back({static_cast<Partition>(partition), unpack_vector(floors)});
  }
  if (!floors.ok()) in.fail("floors");
  const int entries = body.storage_key_bytes_size();
  if (body.record_bytes_size() != entries) return in.fail("entries"), reply;
  reply.entries.reserve(static_cast<size_t>(entries));
  for (int i = 0; i < entries; ++i) {
    std::string storage_key = in.take_values(body.storage_key_bytes(i));
    reply.entries.push_back(
        {std::move(storage_key), std::make_shared<const std::string>(in.take_values(body.record_bytes(i)))});
  }
  return reply;
}

// ---- forwarded

void fill(const ForwardedRequest&, peer_wire::ForwardedRequest&) {}

Status append_values(const ForwardedRequest& forwarded, WireCodec& client_codec, std::string& out) {
  return client_codec.encode(forwarded.body, 0, 0, out);
}

ForwardedRequest from_body(const peer_wire::ForwardedRequest&, PeerIncoming& in) {
  ForwardedRequest forwarded;
  const std::optional<Frame> frame = embedded_frame(in);
  if (!frame) return forwarded;
  Result<ClientRequest> request = in.client_codec().decode_client_request(*frame);
  if (!request.ok()) return in.fail(request.status().message()), forwarded;
  in.drop_values();
  forwarded.body = std::move(*request);
  return forwarded;
}

void fill(const ForwardedReply&, peer_wire::ForwardedReply&) {}

Status append_values(const ForwardedReply& forwarded, WireCodec& client_codec, std::string& out) {
  const size_t start = out.size();
  const ClientReply& reply = forwarded.reply;
  client_codec.encode(reply, 0, out);
  const size_t bytes = out.size() - start;
  if (bytes <= kFrameBytesMax) return {};
  out.resize(start);
  const Status too_much = too_large(cat("the answer has ", bytes, " bytes, and at most ", kFrameBytesMax,
                                        " pass through another node: ask a node that holds the key"));
  client_codec.encode(ClientReply{too_much, {}, reply.epoch, reply.boot}, 0, out);
  return {};
}

ForwardedReply from_body(const peer_wire::ForwardedReply&, PeerIncoming& in) {
  ForwardedReply forwarded;
  const std::optional<Frame> frame = embedded_frame(in);
  if (!frame) return forwarded;
  Result<ClientReply> reply = in.client_codec().decode_client_reply(*frame);
  if (!reply.ok()) return in.fail(reply.status().message()), forwarded;
  in.drop_values();
  forwarded.reply = std::move(*reply);
  return forwarded;
}

}  // namespace ringkv
