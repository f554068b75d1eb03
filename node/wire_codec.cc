#include "node/wire_codec.h"

#include <algorithm>

#include "base/text.h"
#include "node/wire.pb.h"
#include "node/wire_codec_plans.h"
#include "node/wire_codec_reply.h"

namespace ringkv {
namespace {

// Longer than anybody waits, short enough that adding it to a time can't overflow.
constexpr uint64_t kTimeoutMaxUs = 24ULL * 3600 * 1'000'000;

template <class Message>
Status parse(const Frame& frame, FrameType type, std::string_view what, Message& message) {
  if (frame.type != type)
    return invalid_argument(
        cat("a frame of type ", static_cast<int>(frame.type), " where a ", what, " was expected"));
  if (!message.ParseFromArray(frame.message.data(), static_cast<int>(frame.message.size())))
    return invalid_argument(cat("a malformed ", what));
  return {};
}

template <class Message>
void write_frame(const Message& message, FrameType type, uint64_t epoch, std::string& out) {
  FrameWriter frame(out, type, 0, epoch);
  message.AppendToString(&out);
  frame.finish();
}

// ---- request bodies, one pair of functions each

void fill(const ClientPut& put, wire::ClientRequest& request) {
  wire::Put& message = *request.mutable_put();
  message.set_bucket(put.bucket);
  message.set_key(put.key);
  message.set_tombstone(put.tombstone);
  if (put.context) message.set_context(*put.context);
  message.set_w(put.w);
  if (put.durability) message.set_durability(static_cast<uint32_t>(*put.durability));
  message.set_primary(put.primary);
  if (put.ttl_ms) message.set_ttl_ms(*put.ttl_ms);
  message.set_client(put.operation.client);
  message.set_sequence(put.operation.sequence);
  message.set_first_tried(put.first_tried.value);
  message.set_read_first(put.read_first);
  message.set_seen(put.seen);
}

Result<ClientRequest::Body> body_from(const wire::Put& message, std::string_view value) {
  ClientPut put;
  put.bucket = message.bucket();
  put.key = message.key();
  put.value = value;
  put.tombstone = message.tombstone();
  if (message.has_context()) put.context = message.context();
  put.w = message.w();
  if (message.has_durability()) {
    if (message.durability() > static_cast<uint32_t>(Durability::kBuffered))
      return invalid_argument(cat("a put with durability ", message.durability()));
    put.durability = static_cast<Durability>(message.durability());
  }
  put.primary = message.primary();
  if (message.has_ttl_ms()) put.ttl_ms = message.ttl_ms();
  put.operation = {message.client(), message.sequence()};
  put.first_tried.value = message.first_tried();
  put.read_first = message.read_first();
  put.seen = message.seen();
  return ClientRequest::Body(std::move(put));
}

void fill(const ClientGet& get, wire::ClientRequest& request) {
  wire::Get& message = *request.mutable_get();
  message.set_bucket(get.bucket);
  message.set_key(get.key);
  message.set_r(get.r);
  message.set_without_values(!get.values);
}

ClientGet body_from(const wire::Get& message) {
  return {message.bucket(), message.key(), message.r(), !message.without_values()};
}

void fill(const ClientScan& scan, wire::ClientRequest& request) {
  wire::Scan& message = *request.mutable_scan();
  message.set_bucket(scan.bucket);
  message.set_prefix(scan.prefix);
  message.set_after(scan.after);
  message.set_limit(scan.limit);
  message.set_values(scan.values);
}

ClientScan body_from(const wire::Scan& message) {
  return {message.bucket(), message.prefix(), message.after(), message.limit(), message.values()};
}

void fill(const ClientLocalGet& get, wire::ClientRequest& request) {
  wire::LocalGet& message = *request.mutable_local_get();
  message.set_node(get.node);
  message.set_bucket(get.bucket);
  message.set_key(get.key);
}

ClientLocalGet body_from(const wire::LocalGet& message) {
  return {message.node(), message.bucket(), message.key()};
}

void fill(const ClientExplain& explain, wire::ClientRequest& request) {
  request.mutable_explain()->set_bucket(explain.bucket);
  request.mutable_explain()->set_key(explain.key);
}

void fill(const ClientFault& fault, wire::ClientRequest& request) {
  request.mutable_fault()->set_kind(static_cast<uint32_t>(fault.kind));
  request.mutable_fault()->set_peer(fault.peer);
  request.mutable_fault()->set_delay_ms(fault.delay_ms);
  request.mutable_fault()->set_offset_ms(fault.offset_ms);
}

Result<ClientRequest::Body> body_from(const wire::Fault& message) {
  if (message.kind() > static_cast<uint32_t>(ClientFault::Kind::kClock))
    return invalid_argument(cat("a fault of kind ", message.kind()));
  return ClientRequest::Body(ClientFault{static_cast<ClientFault::Kind>(message.kind()), message.peer(),
                                         message.delay_ms(), message.offset_ms()});
}

void fill(const ClientHints& hints, wire::ClientRequest& request) {
  request.mutable_hints()->set_node(hints.node);
}
void fill(const ClientLag& lag, wire::ClientRequest& request) { request.mutable_lag()->set_node(lag.node); }
void fill(const ClientTransfers& transfers, wire::ClientRequest& request) {
  request.mutable_transfers()->set_node(transfers.node);
}
void fill(const ClientThrottle& throttle, wire::ClientRequest& request) {
  request.set_throttle(throttle.bytes_per_second);
}
void fill(const ClientPurge& purge, wire::ClientRequest& request) {
  request.mutable_purge()->set_node(purge.node);
}
void fill(const ClientScrub& scrub, wire::ClientRequest& request) {
  request.mutable_scrub()->set_node(scrub.node);
}
void fill(const ClientPartitionSizes& sizes, wire::ClientRequest& request) {
  request.mutable_partition_sizes()->set_node(sizes.node);
}
void fill(const ClientPlanShow&, wire::ClientRequest& request) { request.mutable_plan_show(); }
void fill(const ClientPlan& plan, wire::ClientRequest& request) {
  fill_plan(plan.steps, *request.mutable_plan());
}
void fill(const ClientCommitPlan& commit, wire::ClientRequest& request) {
  request.mutable_commit_plan()->set_epoch(commit.epoch);
  request.mutable_commit_plan()->set_commit_id(commit.commit_id);
}
void fill(const ClientCancelPlan& cancel, wire::ClientRequest& request) {
  request.mutable_cancel_plan()->set_epoch(cancel.epoch);
}

void fill(const ClientForceRing& force, wire::ClientRequest& request) {
  for (const std::string& name : force.lost) request.mutable_force_ring()->add_lost(name);
  request.mutable_force_ring()->set_apply(force.apply);
}

ClientForceRing body_from(const wire::ForceRing& message) {
  return {{message.lost().begin(), message.lost().end()}, message.apply()};
}

Result<ClientRequest::Body> body_from(const wire::Plan& message) {
  Result<std::vector<PlanStep>> steps = plan_from(message);
  if (!steps.ok()) return steps.status();
  return ClientRequest::Body(ClientPlan{*std::move(steps)});
}

void fill(const ClientRepair& repair, wire::ClientRequest& request) {
  request.mutable_repair()->set_node(repair.node);
  if (repair.partition) request.mutable_repair()->set_partition(*repair.partition);
  request.mutable_repair()->set_accept_loss(repair.accept_loss);
}

ClientRepair body_from(const wire::Repair& message) {
  ClientRepair repair{message.node(), {}, message.accept_loss()};
  if (message.has_partition()) repair.partition = message.partition();
  return repair;
}

void fill(const ClientStatus&, wire::ClientRequest& request) { request.mutable_status(); }
void fill(const ClientRouting&, wire::ClientRequest& request) { request.mutable_routing(); }
void fill(const ClientBuckets&, wire::ClientRequest& request) { request.mutable_buckets(); }
void fill(const ClientRing& ring, wire::ClientRequest& request) {
  request.mutable_ring()->set_owners(ring.owners);
}
void fill(const ClientStatistics& statistics, wire::ClientRequest& request) {
  request.mutable_statistics()->set_node(statistics.node);
  request.mutable_statistics()->set_reset_latencies(statistics.reset_latencies);
}

void fill(const ClientCreateBucket& create, wire::ClientRequest& request) {
  wire::Bucket& message = *request.mutable_create_bucket();
  message.set_name(create.bucket.name);
  message.set_conflict(create.bucket.conflict);
  message.set_r(create.bucket.r);
  message.set_w(create.bucket.w);
  message.set_ttl_ms(create.bucket.ttl_ms);
}

ClientCreateBucket body_from(const wire::Bucket& message) {
  return {{message.name(), message.conflict(), message.r(), message.w(), message.ttl_ms()}};
}

void fill(const ClientChangeBucket& change, wire::ClientRequest& request) {
  wire::ChangeBucket& message = *request.mutable_change_bucket();
  message.set_name(change.name);
  if (change.change.r) message.set_r(*change.change.r);
  if (change.change.w) message.set_w(*change.change.w);
  if (change.change.ttl_ms) message.set_ttl_ms(*change.change.ttl_ms);
}

ClientChangeBucket body_from(const wire::ChangeBucket& message) {
  ClientChangeBucket change{message.name(), {}};
  if (message.has_r()) change.change.r = message.r();
  if (message.has_w()) change.change.w = message.w();
  if (message.has_ttl_ms()) change.change.ttl_ms = message.ttl_ms();
  return change;
}

Result<ClientRequest::Body> body_from(const wire::ClientRequest& request, std::string_view value) {
  using Body = ClientRequest::Body;
  if (request.has_put()) return body_from(request.put(), value);
  if (!value.empty()) return invalid_argument("a request with values that isn't a put");
  if (request.has_get()) return Body(body_from(request.get()));
  if (request.has_scan()) return Body(body_from(request.scan()));
  if (request.has_local_get()) return Body(body_from(request.local_get()));
  if (request.has_explain()) return Body(ClientExplain{request.explain().bucket(), request.explain().key()});
  if (request.has_status()) return Body(ClientStatus{});
  if (request.has_ring()) return Body(ClientRing{request.ring().owners()});
  if (request.has_statistics())
    return Body(ClientStatistics{request.statistics().node(), request.statistics().reset_latencies()});
  if (request.has_buckets()) return Body(ClientBuckets{});
  if (request.has_create_bucket()) return Body(body_from(request.create_bucket()));
  if (request.has_change_bucket()) return Body(body_from(request.change_bucket()));
  if (request.has_routing()) return Body(ClientRouting{});
  if (request.has_fault()) return body_from(request.fault());
  if (request.has_hints()) return Body(ClientHints{request.hints().node()});
  if (request.has_lag()) return Body(ClientLag{request.lag().node()});
  if (request.has_transfers()) return Body(ClientTransfers{request.transfers().node()});
  if (request.has_throttle()) return Body(ClientThrottle{request.throttle()});
  if (request.has_repair()) return Body(body_from(request.repair()));
  if (request.has_purge()) return Body(ClientPurge{request.purge().node()});
  if (request.has_scrub()) return Body(ClientScrub{request.scrub().node()});
  if (request.has_partition_sizes()) return Body(ClientPartitionSizes{request.partition_sizes().node()});
  if (request.has_plan_show()) return Body(ClientPlanShow{});
  if (request.has_plan()) return body_from(request.plan());
  if (request.has_commit_plan())
    return Body(ClientCommitPlan{request.commit_plan().epoch(), request.commit_plan().commit_id()});
  if (request.has_cancel_plan()) return Body(ClientCancelPlan{request.cancel_plan().epoch()});
  if (request.has_force_ring()) return Body(body_from(request.force_ring()));
  return invalid_argument("a request that this version doesn't know");
}

}  // namespace

struct WireCodec::Messages {
  wire::Hello hello;
  wire::Welcome welcome;
  wire::Status refusal;
  wire::ClientRequest request;
  WireReplyCodec reply;
};

WireCodec::WireCodec() : messages_(std::make_unique<Messages>()) {}
WireCodec::~WireCodec() = default;

void WireCodec::encode(const Hello& hello, std::string& out) {
  messages_->hello.set_protocol(hello.protocol);
  messages_->hello.set_client(hello.client);
  write_frame(messages_->hello, FrameType::kHello, 0, out);
}

void WireCodec::encode(const Welcome& welcome, uint64_t epoch, std::string& out) {
  wire::Welcome& message = messages_->welcome;
  message.set_protocol(welcome.protocol);
  message.set_cluster(welcome.cluster.value);
  message.set_node(welcome.node.value);
  message.set_name(welcome.name);
  message.set_boot(welcome.boot.value);
  write_frame(message, FrameType::kWelcome, epoch, out);
}

void WireCodec::encode_refusal(const Status& why, std::string& out) {
  messages_->refusal.set_code(static_cast<uint32_t>(why.code()));
  messages_->refusal.set_message(why.message());
  write_frame(messages_->refusal, FrameType::kRefused, 0, out);
}

Status WireCodec::encode(const ClientRequest& request, uint64_t request_number, uint64_t epoch,
                         std::string& out) {
  wire::ClientRequest& message = messages_->request;
  message.Clear();
  message.set_timeout_us(static_cast<uint64_t>(std::max<Duration::rep>(request.timeout.count(), 0)));
  std::visit([&message](const auto& body) { fill(body, message); }, request.body);

  const auto* put = std::get_if<ClientPut>(&request.body);
  const std::string_view value = put != nullptr ? std::string_view(put->value) : std::string_view();
  const size_t bytes = kFrameHeaderBytes + message.ByteSizeLong() + value.size();
  if (bytes > kFrameBytesMax)
    return too_large(cat("a request of ", bytes, " bytes; at most ", kFrameBytesMax, " are possible"));

  FrameWriter frame(out, FrameType::kClientRequest, request_number, epoch);
  message.AppendToString(&out);
  frame.begin_values();
  out.append(value);
  frame.finish();
  return {};
}

void WireCodec::encode(const ClientReply& reply, uint64_t request_number, std::string& out) {
  messages_->reply.encode(reply, request_number, out);
}

Result<Hello> WireCodec::decode_hello(const Frame& frame) {
  wire::Hello& message = messages_->hello;
  const Status parsed = parse(frame, FrameType::kHello, "greeting", message);
  if (!parsed.ok()) return parsed;
  return Hello{message.protocol(), message.client()};
}

Result<Welcome> WireCodec::decode_welcome(const Frame& frame) {
  if (frame.type == FrameType::kRefused) {
    wire::Status& refusal = messages_->refusal;
    const Status parsed = parse(frame, FrameType::kRefused, "refusal", refusal);
    if (!parsed.ok()) return parsed;
    const bool known = refusal.code() > 0 && refusal.code() <= static_cast<uint32_t>(StatusCode::kOutOfSpace);
    return Status(known ? static_cast<StatusCode>(refusal.code()) : StatusCode::kForbidden,
                  refusal.message());
  }
  wire::Welcome& message = messages_->welcome;
  const Status parsed = parse(frame, FrameType::kWelcome, "welcome", message);
  if (!parsed.ok()) return parsed;
  return Welcome{message.protocol(), {message.cluster()}, {message.node()}, message.name(), {message.boot()}};
}

Result<ClientRequest> WireCodec::decode_client_request(const Frame& frame) {
  wire::ClientRequest& message = messages_->request;
  const Status parsed = parse(frame, FrameType::kClientRequest, "request", message);
  if (!parsed.ok()) return parsed;
  Result<ClientRequest::Body> body = body_from(message, frame.values);
  if (!body.ok()) return body.status();
  return ClientRequest{std::move(*body), Duration(std::min(message.timeout_us(), kTimeoutMaxUs))};
}

Result<ClientReply> WireCodec::decode_client_reply(const Frame& frame, std::string_view earlier_values) {
  return messages_->reply.decode(frame, earlier_values);
}

}  // namespace ringkv
