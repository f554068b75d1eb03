#include "node/wire_codec_reply.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "node/wire.pb.h"
#include "node/wire_codec.h"
#include "node/wire_codec_reports.h"

namespace ringkv {
namespace {

// A message that grew beyond this is thrown away instead of kept for reuse.
constexpr size_t kKeptMessageBytesMax = size_t{256} << 10;
// Far more than the siblings of a record or the entries of a page.
constexpr int kValuesMax = 1 << 20;
constexpr size_t kPartBytes = size_t{8} << 20;

// The raw values of a reply, in order, where they lie.
class ValueList {
 public:
  void add(std::string_view value) {
    values_.push_back(value);
    bytes_ += value.size();
  }
  size_t bytes() const { return bytes_; }

  // Appends the next `bytes` of them.
  void append_next(size_t bytes, std::string& out) {
    while (bytes > 0) {
      std::string_view& value = values_[next_];
      const size_t part = std::min(bytes, value.size());
      out.append(value.substr(0, part));
      value.remove_prefix(part);
      bytes -= part;
      bytes_ -= part;
      if (value.empty()) ++next_;
    }
  }

 private:
  std::vector<std::string_view> values_;
  size_t next_ = 0;
  size_t bytes_ = 0;
};

// Takes raw values off in order: of the earlier frames first, then of the last one. No value's length is
// trusted.
class ValueReader {
 public:
  ValueReader(std::string_view earlier, std::string_view last) : earlier_(earlier), last_(last) {}

  std::string take(uint64_t bytes) {
    if (bytes > earlier_.size() + last_.size()) return fail(), std::string();
    const size_t from_earlier = std::min<size_t>(bytes, earlier_.size());
    const size_t from_last = bytes - from_earlier;
    std::string value;
    value.reserve(bytes);
    value.append(earlier_.substr(0, from_earlier));
    value.append(last_.substr(0, from_last));
    earlier_.remove_prefix(from_earlier);
    last_.remove_prefix(from_last);
    return value;
  }
  void fail() { ok_ = false; }
  bool finished() const { return ok_ && earlier_.empty() && last_.empty(); }

 private:
  std::string_view earlier_;
  std::string_view last_;
  bool ok_ = true;
};

template <class Repeated>
std::vector<std::string> strings_from(const Repeated& from) {
  return {from.begin(), from.end()};
}

template <class Lengths>
std::vector<std::string> values_from(const Lengths& lengths, ValueReader& values) {
  std::vector<std::string> taken;
  if (lengths.size() > kValuesMax) return values.fail(), taken;
  taken.reserve(static_cast<size_t>(lengths.size()));
  for (const uint64_t bytes : lengths) taken.push_back(values.take(bytes));
  return taken;
}

// ---- reply bodies, one pair of functions each

void fill(const std::monostate&, wire::ClientReply&, ValueList&) {}

void fill(const PutReceipt& receipt, wire::ClientReply& reply, ValueList&) {
  wire::Receipt& message = *reply.mutable_receipt();
  message.set_epoch(receipt.epoch);
  message.set_context(receipt.context.bytes());
  message.set_operation_id(receipt.operation_id);
  for (const Acknowledgement& ack : receipt.acks) {
    wire::Acknowledgement& item = *message.add_acks();
    item.set_node(ack.node);
    item.set_kind(static_cast<uint32_t>(ack.kind));
    item.set_hint_for(ack.hint_for);
  }
}

Result<ClientReply::Body> body_from(const wire::Receipt& message) {
  PutReceipt receipt{message.epoch(), Context(message.context()), {}, message.operation_id()};
  receipt.acks.reserve(static_cast<size_t>(message.acks_size()));
  for (const wire::Acknowledgement& item : message.acks()) {
    if (item.kind() > static_cast<uint32_t>(Acknowledgement::Kind::kHint))
      return invalid_argument(cat("an acknowledgement of kind ", item.kind()));
    receipt.acks.push_back({item.node(), static_cast<Acknowledgement::Kind>(item.kind()), item.hint_for()});
  }
  return ClientReply::Body(std::move(receipt));
}

void fill(const GetResult& result, wire::ClientReply& reply, ValueList& values) {
  wire::Values& message = *reply.mutable_values();
  message.set_context(result.context.bytes());
  message.set_epoch(result.epoch);
  message.set_unconfirmed(result.unconfirmed);
  for (const std::string& value : result.values) {
    message.add_value_bytes(value.size());
    values.add(value);
  }
}

GetResult body_from(const wire::Values& message, ValueReader& values) {
  return {values_from(message.value_bytes(), values), Context(message.context()), message.epoch(),
          message.unconfirmed()};
}

void fill(const ExistsAnswer& answer, wire::ClientReply& reply, ValueList&) {
  reply.mutable_exists()->set_found(answer.found);
}

void fill(const ScanPage& page, wire::ClientReply& reply, ValueList& values) {
  wire::Page& message = *reply.mutable_page();
  message.set_after(page.after);
  for (const ScanEntry& entry : page.entries) {
    wire::Entry& item = *message.add_entries();
    item.set_key(entry.key);
    for (const std::string& value : entry.values) {
      item.add_value_bytes(value.size());
      values.add(value);
    }
  }
}

ScanPage body_from(const wire::Page& message, ValueReader& values) {
  ScanPage page;
  page.after = message.after();
  page.entries.reserve(static_cast<size_t>(message.entries_size()));
  for (const wire::Entry& item : message.entries())
    page.entries.push_back({item.key(), values_from(item.value_bytes(), values)});
  return page;
}

template <class Message>
void fill_versions(const std::vector<VersionInfo>& versions, Message& message, ValueList& values) {
  for (const VersionInfo& version : versions) {
    wire::Version& item = *message.add_versions();
    item.set_value_bytes(version.value.size());
    item.set_dot(version.dot);
    item.set_tombstone(version.tombstone);
    item.set_time_us(version.time_us);
    if (version.expires_at_ms) item.set_expires_at_ms(*version.expires_at_ms);
    item.set_source(version.source);
    values.add(version.value);
  }
}

template <class Message>
std::vector<VersionInfo> versions_from(const Message& message, ValueReader& values) {
  std::vector<VersionInfo> versions;
  for (const wire::Version& item : message.versions()) {
    VersionInfo version{values.take(item.value_bytes()),
                        item.dot(),
                        item.tombstone(),
                        item.time_us(),
                        std::nullopt,
                        item.source()};
    if (item.has_expires_at_ms()) version.expires_at_ms = item.expires_at_ms();
    versions.push_back(std::move(version));
  }
  return versions;
}

void fill(const LocalRecord& record, wire::ClientReply& reply, ValueList& values) {
  wire::LocalRecord& message = *reply.mutable_local_record();
  message.set_found(record.found);
  message.set_context(record.context.bytes());
  fill_versions(record.versions, message, values);
}

LocalRecord body_from(const wire::LocalRecord& message, ValueReader& values) {
  return {message.found(), versions_from(message, values), Context(message.context())};
}

void fill(const Explanation& explanation, wire::ClientReply& reply, ValueList& values) {
  wire::Explanation& message = *reply.mutable_explanation();
  message.set_token(explanation.token);
  message.set_partition(explanation.partition);
  message.set_epoch(explanation.epoch);
  for (const std::string& answer : explanation.would_answer) message.add_would_answer(answer);
  for (const ReplicaInfo& replica : explanation.replicas) {
    wire::Replica& item = *message.add_replicas();
    item.set_node(replica.node);
    item.set_rack(replica.rack);
    item.set_alive(replica.alive);
    item.set_hint_for(replica.hint_for);
    item.set_incomplete(!replica.whole);
    for (const std::string& why : replica.blocked_by) item.add_blocked_by(why);
    fill_versions(replica.versions, item, values);
  }
}

Explanation body_from(const wire::Explanation& message, ValueReader& values) {
  Explanation explanation{
      message.token(), message.partition(), message.epoch(), {}, strings_from(message.would_answer())};
  for (const wire::Replica& item : message.replicas()) {
    explanation.replicas.push_back({item.node(), item.rack(), item.alive(), versions_from(item, values),
                                    item.hint_for(), !item.incomplete(), strings_from(item.blocked_by())});
  }
  return explanation;
}

template <class Message>
void fill_members(const std::vector<MemberInfo>& members, Message& message) {
  for (const MemberInfo& member : members) {
    wire::Member& item = *message.add_members();
    item.set_name(member.name);
    item.set_id(member.id);
    item.set_rack(member.rack);
    item.set_weight(member.weight);
    item.set_status(member.status);
    item.set_state(member.state);
    item.set_share(member.share);
    item.set_peer_address(member.peer_address);
    item.set_client_address(member.client_address);
    if (member.epoch) item.set_epoch(*member.epoch);
    if (member.keys) item.set_keys(*member.keys);
    if (member.bytes) item.set_bytes(*member.bytes);
    if (member.hints) item.set_hints(*member.hints);
    if (member.hint_bytes) item.set_hint_bytes(*member.hint_bytes);
    if (member.lag_seconds) item.set_lag_seconds(*member.lag_seconds);
    if (member.skew_seconds) item.set_skew_seconds(*member.skew_seconds);
    if (member.incomplete_partitions) item.set_incomplete_partitions(*member.incomplete_partitions);
    if (member.takeover_partitions) item.set_takeover_partitions(*member.takeover_partitions);
    if (member.takeover_ready) item.set_takeover_ready(*member.takeover_ready);
    if (member.handover_partitions) item.set_handover_partitions(*member.handover_partitions);
  }
}

MemberInfo member_from(const wire::Member& item) {
  MemberInfo member;
  member.name = item.name();
  member.id = item.id();
  member.rack = item.rack();
  member.weight = item.weight();
  member.status = item.status();
  member.state = item.state();
  member.share = item.share();
  member.peer_address = item.peer_address();
  member.client_address = item.client_address();
  if (item.has_epoch()) member.epoch = item.epoch();
  if (item.has_keys()) member.keys = item.keys();
  if (item.has_bytes()) member.bytes = item.bytes();
  if (item.has_hints()) member.hints = item.hints();
  if (item.has_hint_bytes()) member.hint_bytes = item.hint_bytes();
  if (item.has_lag_seconds()) member.lag_seconds = item.lag_seconds();
  if (item.has_skew_seconds()) member.skew_seconds = item.skew_seconds();
  if (item.has_incomplete_partitions()) member.incomplete_partitions = item.incomplete_partitions();
  if (item.has_takeover_partitions()) member.takeover_partitions = item.takeover_partitions();
  if (item.has_takeover_ready()) member.takeover_ready = item.takeover_ready();
  if (item.has_handover_partitions()) member.handover_partitions = item.handover_partitions();
  return member;
}

template <class Message>
std::vector<MemberInfo> members_from(const Message& message) {
  std::vector<MemberInfo> members;
  for (const wire::Member& item : message.members()) members.push_back(member_from(item));
  return members;
}

void fill(const ClusterStatus& status, wire::ClientReply& reply, ValueList&) {
  reply.mutable_cluster_status()->set_epoch(status.epoch);
  reply.mutable_cluster_status()->set_change_under_way(status.change_under_way);
  reply.mutable_cluster_status()->set_voters(status.voters);
  reply.mutable_cluster_status()->set_lineage(status.lineage);
  fill_members(status.members, *reply.mutable_cluster_status());
}

ClusterStatus body_from(const wire::ClusterStatus& message) {
  return {message.epoch(), message.change_under_way(), members_from(message), message.voters(),
          message.lineage()};
}

void fill(const RingInfo& ring, wire::ClientReply& reply, ValueList&) {
  wire::RingInfo& message = *reply.mutable_ring();
  message.set_epoch(ring.epoch);
  message.set_digest(ring.digest);
  message.set_replicas(ring.replicas);
  message.set_partitions(ring.partitions);
  message.set_placer(ring.placer);
  fill_members(ring.members, message);
  for (const std::string& owner : ring.owners) message.add_owners(owner);
  message.set_stage(ring.stage);
  for (const std::string& step : ring.steps) message.add_steps(step);
  for (const std::string& name : ring.waiting) message.add_waiting(name);
  message.set_lineage(ring.lineage);
}

RingInfo body_from(const wire::RingInfo& message) {
  return {message.epoch(),
          message.digest(),
          message.replicas(),
          message.partitions(),
          message.placer(),
          members_from(message),
          strings_from(message.owners()),
          message.stage(),
          strings_from(message.steps()),
          strings_from(message.waiting()),
          message.lineage()};
}

void fill(const Statistics& statistics, wire::ClientReply& reply, ValueList&) {
  wire::Statistics& message = *reply.mutable_statistics();
  for (const auto& [name, value] : statistics) {
    wire::Figure& figure = *message.add_figures();
    figure.set_name(name);
    figure.set_value(value);
  }
}

Statistics body_from(const wire::Statistics& message) {
  Statistics statistics;
  for (const wire::Figure& figure : message.figures()) statistics[figure.name()] = figure.value();
  return statistics;
}

void fill(const std::vector<BucketInfo>& buckets, wire::ClientReply& reply, ValueList&) {
  wire::Buckets& message = *reply.mutable_buckets();
  for (const BucketInfo& bucket : buckets) {
    wire::Bucket& item = *message.add_buckets();
    item.set_name(bucket.name);
    item.set_conflict(bucket.conflict);
    item.set_r(bucket.r);
    item.set_w(bucket.w);
    item.set_ttl_ms(bucket.ttl_ms);
  }
}

std::vector<BucketInfo> body_from(const wire::Buckets& message) {
  std::vector<BucketInfo> buckets;
  for (const wire::Bucket& item : message.buckets())
    buckets.push_back({item.name(), item.conflict(), item.r(), item.w(), item.ttl_ms()});
  return buckets;
}

void fill(const RoutingTable& table, wire::ClientReply& reply, ValueList&) {
  wire::RoutingTable& message = *reply.mutable_routing();
  message.set_description(table.description);
  for (const RoutingTable::ClientAddress& address : table.addresses) {
    wire::ClientAddress& item = *message.add_addresses();
    item.set_node(address.node.value);
    item.set_address(address.address);
  }
}

RoutingTable body_from(const wire::RoutingTable& message) {
  RoutingTable table{message.description(), {}};
  for (const wire::ClientAddress& item : message.addresses())
    table.addresses.push_back({NodeId{item.node()}, item.address()});
  return table;
}

template <class Report>
void fill(const Report& report, wire::ClientReply& reply, ValueList&) {
  fill_report(report, reply);
}

Result<ClientReply::Body> body_from(const wire::ClientReply& reply, ValueReader& values) {
  using Body = ClientReply::Body;
  if (reply.has_receipt()) return body_from(reply.receipt());
  if (reply.has_values()) return Body(body_from(reply.values(), values));
  if (reply.has_exists()) return Body(ExistsAnswer{reply.exists().found()});
  if (reply.has_page()) return Body(body_from(reply.page(), values));
  if (reply.has_local_record()) return Body(body_from(reply.local_record(), values));
  if (reply.has_explanation()) return Body(body_from(reply.explanation(), values));
  if (reply.has_cluster_status()) return Body(body_from(reply.cluster_status()));
  if (reply.has_ring()) return Body(body_from(reply.ring()));
  if (reply.has_statistics()) return Body(body_from(reply.statistics()));
  if (reply.has_buckets()) return Body(body_from(reply.buckets()));
  if (reply.has_routing()) return Body(body_from(reply.routing()));
  if (std::optional<Body> report = report_from(reply)) return *std::move(report);
  return Body(std::monostate());
}

// Values that don't fit into one frame with the message go ahead, in frames of their own.
void write_parts_ahead(size_t message_bytes, uint64_t request_number, uint64_t epoch, ValueList& values,
                       std::string& out) {
  while (kFrameHeaderBytes + message_bytes + values.bytes() > kFrameBytesMax) {
    FrameWriter part(out, FrameType::kClientReplyValues, request_number, epoch);
    part.begin_values();
    values.append_next(std::min(values.bytes(), kPartBytes), out);
    part.finish();
  }
}

}  // namespace

struct WireReplyCodec::Message {
  void shrink(size_t last_bytes) {
    if (last_bytes > kKeptMessageBytesMax) reply = wire::ClientReply();
  }

  wire::ClientReply reply;
};

WireReplyCodec::WireReplyCodec() : message_(std::make_unique<Message>()) {}
WireReplyCodec::~WireReplyCodec() = default;

void WireReplyCodec::encode(const ClientReply& reply, uint64_t request_number, std::string& out) {
  wire::ClientReply& message = message_->reply;
  message.Clear();
  message.set_boot(reply.boot.value);
  message.set_seen(reply.seen);
  if (!reply.status.ok()) {
    message.mutable_status()->set_code(static_cast<uint32_t>(reply.status.code()));
    message.mutable_status()->set_message(reply.status.message());
  }
  ValueList values;
  std::visit([&](const auto& body) { fill(body, message, values); }, reply.body);

  const size_t message_bytes = message.ByteSizeLong();
  if (kFrameHeaderBytes + message_bytes > kFrameBytesMax || message_bytes + values.bytes() > kReplyBytesMax) {
    message_->shrink(message_bytes);
    const Status too_much = too_large(cat("the answer has ", message_bytes + values.bytes(),
                                          " bytes; at most ", kReplyBytesMax, " can be sent"));
    return encode({too_much, {}, reply.epoch, reply.boot, ""}, request_number, out);
  }

  write_parts_ahead(message_bytes, request_number, reply.epoch, values, out);
  FrameWriter frame(out, FrameType::kClientReply, request_number, reply.epoch);
  message.AppendToString(&out);
  frame.begin_values();
  values.append_next(values.bytes(), out);
  frame.finish();
  message_->shrink(message_bytes);
}

Result<ClientReply> WireReplyCodec::decode(const Frame& frame, std::string_view earlier_values) {
  if (frame.type != FrameType::kClientReply)
    return invalid_argument(
        cat("a frame of type ", static_cast<int>(frame.type), " where a reply was expected"));
  wire::ClientReply& message = message_->reply;
  if (!message.ParseFromArray(frame.message.data(), static_cast<int>(frame.message.size())))
    return invalid_argument("a malformed reply");

  ClientReply reply;
  reply.epoch = frame.epoch;
  reply.boot.value = message.boot();
  reply.seen = message.seen();
  if (message.status().code() > static_cast<uint32_t>(StatusCode::kOutOfSpace))
    return invalid_argument(cat("a reply with status ", message.status().code()));
  reply.status = Status(static_cast<StatusCode>(message.status().code()), message.status().message());
  ValueReader values(earlier_values, frame.values);
  Result<ClientReply::Body> body = body_from(message, values);
  message_->shrink(frame.message.size());
  if (!body.ok()) return body.status();
  if (!values.finished()) return invalid_argument("a reply whose values don't have the lengths it says");
  reply.body = std::move(*body);
  return reply;
}

}  // namespace ringkv
