// A peer in this process: a Node on the real loop, disk and network.
#include "ringkv/db.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/address.h"
#include "base/client_message.h"
#include "base/text.h"
#include "node/asio_runtime.h"
#include "node/node.h"
#include "node/operation_ids.h"
#include "node/seen_contexts.h"
#include "node/system_random.h"
#include "storage/data_directory.h"
#include "storage/rocksdb_engine.h"

namespace ringkv {
namespace {

constexpr Duration kStopPatience = std::chrono::seconds(20);
constexpr uint64_t kMemoryBytesMin = uint64_t{32} << 20;
// Of the budget: heads of records; the rest is RocksDB's.
constexpr uint64_t kCacheShare = 16;

class CallbackLog final : public Log {
 public:
  explicit CallbackLog(const Options& options) : severity_(options.log_severity), log_(options.log) {}

  bool wants(LogLevel level) const override {
    return log_ && static_cast<uint8_t>(level) >= static_cast<uint8_t>(severity_);
  }
  void write(LogLevel level, std::string_view room, std::string_view message) override {
    log_(static_cast<LogSeverity>(level), room, message);
  }

 private:
  const LogSeverity severity_;
  const std::function<void(LogSeverity, std::string_view, std::string_view)> log_;
};

std::string host_name() {
  std::array<char, 65> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "node";
  return name.data();
}

std::string random_secret(Random& random) {
  std::string secret;
  while (secret.size() < 32) {
    const uint64_t bits = random.next();
    secret.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  return secret;
}

std::optional<PlacerKind> placer_kind(std::optional<Placer> placer) {
  if (!placer) return std::nullopt;
  return *placer == Placer::kHashed ? PlacerKind::kHashed : PlacerKind::kBalanced;
}

Founding founding_of(const Options& options, Random& random) {
  const Founding defaults;
  return {.bootstrap = options.bootstrap,
          .replicas = options.replicas.value_or(defaults.replicas),
          .partitions = options.partitions.value_or(defaults.partitions),
          .placer = placer_kind(options.placer).value_or(defaults.placer),
          .rack = options.rack.value_or(defaults.rack),
          .weight = options.weight.value_or(defaults.weight),
          .secret = random_secret(random)};
}

Identity drawn_identity(const Options& options, Random& random) {
  return {.node = NodeId{random.next()},
          .disk = DiskId{random.next()},
          .cluster = options.bootstrap ? ClusterId{random.next()} : ClusterId(),
          .name = options.name.empty() ? host_name() : options.name};
}

// What stands against a first start with these options.
Status check_first_start(const std::string& directory, const Options& options) {
  if (options.bootstrap && !options.join.empty())
    return invalid_argument("--bootstrap founds a cluster and --join joins one: give one of them");
  if (options.bootstrap) return {};
  if (options.join.empty()) {
    return invalid_argument(
        cat(directory, " holds no data yet: --bootstrap founds a cluster there, --join HOST:PORT joins ",
            "one, --dev starts a single node to try things on"));
  }
  if (options.peer_address.empty())
    return invalid_argument(
        "to join a cluster, its members must be able to reach this node: --peer HOST:PORT");
  for (const std::string& seed : options.join) {
    if (const Result<HostPort> address = host_port_from(seed); !address.ok())
      return invalid_argument(cat("--join: ", address.status().message()));
  }
  if (Status status = check_name("rack", options.rack.value_or(Founding().rack)); !status.ok()) return status;
  return {};
}

// At the first start the identity is drawn; later it is what the directory says. One that never became a
// member, under another name, is drawn anew.
Result<Identity> identity_of(DataDirectory& directory, const Options& options, Random& random) {
  const bool renamed = !options.name.empty() && options.name != directory.identity().name;
  if (directory.has_identity() && directory.identity().cluster) {
    if (!renamed) return directory.identity();
    return invalid_argument(cat(directory.path().string(), " belongs to node ",
                                display_key(directory.identity().name), ", not ", display_key(options.name),
                                ": start it under its own name, or give another directory"));
  }
  if (Status status = check_first_start(directory.path().string(), options); !status.ok()) return status;
  if (directory.has_identity() && !renamed && !options.bootstrap) return directory.identity();
  const Identity made = drawn_identity(options, random);
  if (Status status = check_name("node name", made.name); !status.ok()) return status;
  // Before it is bound to a name: a start with a wrong flag leaves nothing behind.
  if (options.bootstrap) {
    const Result<RingDescription> ring = found_ring(made, founding_of(options, random));
    if (!ring.ok()) return ring.status();
  }
  if (Status status = directory.write_identity(made); !status.ok()) return status;
  return made;
}

// Where others find what listens at `listening`.
Result<Address> advertised(std::string_view flag, const Address& listening, const Address& given) {
  if (!given.empty()) {
    const Result<HostPort> address = host_port_from(given);
    if (!address.ok()) return address.status();
    return given;
  }
  const Result<HostPort> address = host_port_from(listening);
  if (!address.ok()) return address.status();
  if (address->host == "0.0.0.0" || address->host == "::") {
    return invalid_argument(cat(listening, " is every address of this machine: --advertise-", flag,
                                " HOST:PORT says which of them others find it at"));
  }
  return listening;
}

class Peer final : public Db {
 public:
  Peer(const Options& options, std::unique_ptr<DataDirectory> directory, Identity identity)
      : log_(options),
        directory_(std::move(directory)),
        identity_(std::move(identity)),
        runtime_(identity_.name),
        node_(std::make_unique<Node>(environment(options), settings(options))) {}

  ~Peer() override { (void)close(); }

  Status start(const Options& options) {
    runtime_.set_transport_handler(node_->transport_handler());
    Result<Address> peer = open_door(Door::kPeer, options.peer_address, options.advertised_peer_address);
    if (!peer.ok()) return peer.status();
    Result<Address> client =
        open_door(Door::kClient, options.client_address, options.advertised_client_address);
    if (!client.ok()) return client.status();
    peer_address_ = *peer;
    client_address_ = *client;
    node_->set_addresses(peer_address_, client_address_);
    std::promise<Status> ready;
    runtime_.post([&] { node_->start([&ready](Status status) { ready.set_value(std::move(status)); }); });
    runtime_.start(*node_);
    started_ = true;
    Status status = ready.get_future().get();
    const std::lock_guard lock(mutex_);
    serves_ = status.ok();
    return status;
  }

  const std::string& name() const override { return identity_.name; }
  std::string peer_address() const override { return peer_address_; }
  std::string client_address() const override { return client_address_; }

  uint64_t epoch() const override {
    std::promise<uint64_t> epoch;
    if (!post_to_node([&](Node& node) { epoch.set_value(node.epoch()); })) return 0;
    return epoch.get_future().get();
  }

  Status close() override {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(closed_, true) || !started_) return {};
    }
    Status status;
    if (stop_serving()) {
      std::promise<Status> stopped;
      runtime_.post([&] {
        runtime_.stop_listening();
        node_->stop(kStopPatience, [&stopped](Status how) { stopped.set_value(std::move(how)); });
      });
      status = stopped.get_future().get();
    }
    runtime_.stop();
    node_.reset();
    directory_.reset();
    return status;
  }

 private:
  // "" when there is none; else as it is advertised, with the real port.
  Result<Address> open_door(Door door, const Address& at, const Address& given) {
    if (at.empty()) return Address();
    Result<Address> real = runtime_.listen(at, door);
    if (!real.ok()) return real;
    return advertised(door == Door::kPeer ? "peer" : "client", *real, given);
  }

  // Called on the loop, once, when the ring is on disk.
  Status keep_identity(const Identity& identity) {
    founded_ = true;
    if (identity_.founded) return {};
    return directory_->mark_founded(identity);
  }

  // Whether it served until now. What was posted before is still answered, nothing is posted afterwards.
  bool stop_serving() {
    const std::lock_guard lock(mutex_);
    return std::exchange(serves_, false);
  }

  // False: closed.
  bool post_to_node(std::function<void(Node&)> task) const {
    const std::lock_guard lock(mutex_);
    if (serves_) runtime_.post([node = node_.get(), task = std::move(task)] { task(*node); });
    return serves_;
  }

  void submit(ClientRequest request, std::function<void(ClientReply)> done) override {
    if (auto* put = std::get_if<ClientPut>(&request.body)) {
      if (!put->operation) put->operation = operations_.next();
      done = named_receipt(put->operation, put->first_tried, std::move(done));
    }
    auto call = std::make_shared<std::pair<ClientRequest, std::function<void(ClientReply)>>>(
        std::move(request), done);
    if (post_to_node(
            [this, call](Node& node) { call_node(node, std::move(call->first), std::move(call->second)); }))
      return;
    ClientReply reply;
    reply.status = unavailable(cat(identity_.name, " is closed"));
    done(std::move(reply));
  }

  // On the loop. This process is one client: its blind puts of a key follow what it has seen of it, whatever
  // coordinator they come to.
  void call_node(Node& node, ClientRequest request, std::function<void(ClientReply)> done) {
    const std::optional<SeenContexts::Key> key = SeenContexts::key_of(request);
    if (!key) return node.call(std::move(request), std::move(done));
    if (auto* put = std::get_if<ClientPut>(&request.body); put != nullptr && !put->context)
      put->seen = seen_.seen(key->identity);
    node.call(std::move(request), [this, key = *key, done = std::move(done)](ClientReply reply) {
      seen_.note(key, reply);
      done(std::move(reply));
    });
  }

  // A receipt says by which name the operation can be repeated.
  static std::function<void(ClientReply)> named_receipt(const OperationId& operation, Boot first_tried,
                                                        std::function<void(ClientReply)> done) {
    return [operation, first_tried, done = std::move(done)](ClientReply reply) {
      if (auto* receipt = std::get_if<PutReceipt>(&reply.body)) {
        receipt->operation_id = to_text(OperationName{operation, first_tried ? first_tried : reply.boot});
      }
      done(std::move(reply));
    };
  }

  Environment environment(const Options& options) {
    RocksdbOptions engine{.path = directory_->db_path(),
                          .memory_bytes = options.memory_bytes - options.memory_bytes / kCacheShare,
                          .may_create = true};
    return {.clock = runtime_,
            .transport = runtime_.transport(),
            .executor = runtime_,
            .random = random_,
            .log = log_,
            .open_engine = [this, engine](OpenMode mode) mutable {
              engine.may_create = !founded_;
              return open_rocksdb(engine, mode);
            }};
  }

  Node::Settings settings(const Options& options) {
    return {.identity = identity_,
            .founding = founding_of(options, random_),
            .join = options.join,
            .join_timeout = options.join_timeout,
            .plan_only = options.plan_only,
            .replicas_expected = options.replicas,
            .partitions_expected = options.partitions,
            .placer_expected = placer_kind(options.placer),
            .labels = {.rack = options.rack, .weight = options.weight},
            .auto_remove_after = options.auto_remove_after,
            .enable_faults = options.enable_faults,
            .keep_identity = [this](const Identity& identity) { return keep_identity(identity); },
            .on_left = options.on_left,
            .life = {.durability = options.durability,
                     .cache_bytes = options.memory_bytes / kCacheShare,
                     .round_interval = options.round_interval,
                     .hint_budget_bytes = options.hint_budget_bytes,
                     .scrub_interval = options.scrub_interval,
                     .drop_grace = options.drop_grace,
                     .token = &token_of},
            .disk_reserve_bytes = options.disk_reserve_bytes,
            .write_buffer_bytes = options.memory_bytes / 2};
  }

  CallbackLog log_;
  SystemRandom random_;
  std::unique_ptr<DataDirectory> directory_;  // outlives the engine: holds the lock
  const Identity identity_;
  OperationIds operations_{random_.next()};
  SeenContexts seen_;                              // of the loop
  std::atomic<bool> founded_ = identity_.founded;  // from then on db/ is never made anew
  mutable AsioRuntime runtime_;
  std::unique_ptr<Node> node_;
  Address peer_address_;
  Address client_address_;
  mutable std::mutex mutex_;
  bool serves_ = false;  // under the mutex
  bool started_ = false;
  bool closed_ = false;
};

}  // namespace

Result<std::unique_ptr<Db>> Db::open(const Options& options) {
  if (options.data_directory.empty()) return invalid_argument("a data directory is needed: --data DIR");
  if (options.memory_bytes < kMemoryBytesMin) {
    return invalid_argument(cat("--memory must be at least ", human_bytes(kMemoryBytesMin), ", not ",
                                human_bytes(options.memory_bytes)));
  }
  Result<std::unique_ptr<DataDirectory>> directory = DataDirectory::open(options.data_directory);
  if (!directory.ok()) return directory.status();
  SystemRandom random;
  Result<Identity> identity = identity_of(**directory, options, random);
  if (!identity.ok()) return identity.status();
  auto peer = std::make_unique<Peer>(options, std::move(*directory), std::move(*identity));
  if (Status status = peer->start(options); !status.ok()) return status;
  return std::unique_ptr<Db>(std::move(peer));
}

}  // namespace ringkv
