#include "node/store_opener.h"

#include <bit>
#include <charconv>
#include <utility>

#include "base/plants.h"
#include "base/text.h"
#include "gossip/epoch_register.h"
#include "gossip/older_copy.h"
#include "gossip/peer_book.h"
#include "replication/placer.h"
#include "storage/loss_recovery.h"

namespace ringkv {
namespace {

constexpr uint32_t kReplicasMax = 32;

// Which files were damaged, in words; meant as long as the store isn't whole.
constexpr std::string_view kDamageKey = "damage";

Status check_founding(const Identity& identity, const Founding& founding) {
  if (Status status = check_name("node name", identity.name); !status.ok()) return status;
  if (Status status = check_name("rack", founding.rack); !status.ok()) return status;
  if (founding.replicas < 1 || founding.replicas > kReplicasMax) {
    return invalid_argument(cat("replicas must be 1 to ", kReplicasMax, ", not ", founding.replicas));
  }
  if (!std::has_single_bit(founding.partitions) || founding.partitions > kPartitionsMax) {
    return invalid_argument(
        cat("partitions must be a power of two from 1 to ", kPartitionsMax, ", not ", founding.partitions));
  }
  if (!(founding.weight > 0 && founding.weight <= 100)) {
    return invalid_argument(cat("weight must be above 0 and at most 100, not ", founding.weight));
  }
  return {};
}

std::string nowhere_whole(uint32_t partitions) {
  Wholeness wholeness(partitions);
  wholeness.lose_all();
  return wholeness.encode();
}

// `encoded`: the ring that is on the disk, or nothing.
Result<RingDescription> check_or_found(Engine& engine, const Identity& identity, const Founding& founding,
                                       std::string encoded) {
  if (encoded.empty() && !founding.joined_ring.empty()) {
    const Result<RingDescription> joined = decode_ring_description(founding.joined_ring);
    if (!joined.ok()) return joined.status();
    encoded = founding.joined_ring;
    // Before the ring is there: a crash in between must not make it look whole. A member that joined before
    // there were data has its vote; one that took the place of a lost disk since has none.
    const Member* self = joined->find_member(identity.node);
    if (joined->open && self != nullptr && !self->voter) {
      Status status = write_meta(engine, kIncompleteKey, nowhere_whole(joined->partitions()));
      if (!status.ok()) return status;
    }
    if (Status status = write_meta(engine, kRingKey, encoded); !status.ok()) return status;
  }
  if (!encoded.empty()) {
    Result<RingDescription> ring = decode_ring_description(encoded);
    if (!ring.ok()) return ring;
    const Member* self = ring->find_member(identity.node);
    const bool is_member =
        ring->cluster == identity.cluster && self != nullptr && self->disk == identity.disk;
    if (is_member && self->lost) {
      return forbidden(cat(identity.name, " was declared lost by `ring force` in lineage ", ring->lineage,
                           ", epoch ", ring->epoch, "; what it holds is never served again. Empty the ",
                           "directory to join anew"));
    }
    if (is_member) return ring;
    if (ring->cluster == identity.cluster) {
      return forbidden(cat(identity.name, " is no member of its cluster any more since epoch ", ring->epoch,
                           ": ", self == nullptr ? "it was removed" : "another directory has taken its place",
                           "; what it holds is never served again. Empty the directory to join anew"));
    }
    return corruption(cat("the ring in db/ is of cluster ", hex(ring->cluster.value),
                          " and doesn't have node ", display_key(identity.name), " of IDENTITY (cluster ",
                          hex(identity.cluster.value), "): they are not of one data directory"));
  }
  if (!founding.bootstrap) {
    return invalid_argument(
        "there is no data here yet: --bootstrap founds a cluster, --join HOST:PORT joins one, --dev starts a "
        "single node to try things on");
  }
  Result<RingDescription> ring = found_ring(identity, founding);
  if (!ring.ok()) return ring;
  if (Status status = write_meta(engine, kRingKey, encode_ring_description(*ring)); !status.ok())
    return status;
  return ring;
}

// "": never started before. A damaged one counts as nothing remembered: the others remember.
uint64_t number_from(std::string_view digits) {
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

Result<uint64_t> next_generation(Engine& engine) {
  const Result<std::string> last = read_meta(engine, kGenerationKey);
  if (!last.ok()) return last.status();
  const uint64_t generation = number_from(*last) + 1;
  if (Status status = write_meta(engine, kGenerationKey, std::to_string(generation)); !status.ok())
    return status;
  return generation;
}

Result<Wholeness> read_wholeness(Engine& engine, uint32_t partitions) {
  const Result<std::string> record = read_meta(engine, kIncompleteKey);
  if (!record.ok()) return record.status();
  Wholeness wholeness(partitions);
  if (Status status = wholeness.load(*record); !status.ok()) return status;
  return wholeness;
}

std::string describe(const LostRanges& lost) {
  std::string text;
  for (const OpenedEngine::LostRange& range : lost) {
    if (range.family == Family::kHints) continue;
    if (!text.empty()) text += ", ";
    text += cat("table file ", range.file, " (", range.why, ")");
  }
  return text;
}

// On disk before anything else follows from the loss. Only hints: others don't rely on these.
Status lose(Engine& engine, const std::vector<Partition>& partitions, const LostRanges& lost,
            Wholeness& wholeness) {
  if (partitions.empty() || planted(Plant::kServeAfterDamage)) return {};
  for (const Partition partition : partitions) wholeness.lose(partition);
  const std::unique_ptr<Batch> batch = engine.new_batch();
  batch->put(Family::kMeta, kIncompleteKey, wholeness.encode());
  batch->put(Family::kMeta, kDamageKey, describe(lost));
  return engine.write(*batch, true);
}

// The conclusions are drawn: the next start needn't again.
Status settle(Engine& engine) {
  const std::unique_ptr<Batch> batch = engine.new_batch();
  batch->erase(Family::kMeta, kLostRangesKey);
  return engine.write(*batch, true);
}

// What comes once engine and ring are there; its CORRUPTION may be a damaged file's.
Result<OpenedStore> recover(OpenedEngine opened, RingDescription ring, const Actor& self) {
  Engine& engine = *opened.engine;
  const uint32_t partitions = ring.partitions();
  Result<Wholeness> wholeness = read_wholeness(engine, partitions);
  if (!wholeness.ok()) return wholeness.status();
  const std::vector<Partition> lost = partitions_with_losses(opened.lost, partitions);
  if (Status status = lose(engine, lost, opened.lost, *wholeness); !status.ok()) return status;
  Result<RecoveredStore> recovered = opened.lost.empty()
                                         ? recover_store(engine, partitions, self)
                                         : recover_after_loss(engine, partitions, self, opened.lost);
  if (!recovered.ok()) return recovered.status();
  Result<RecoveredHints> hints = recover_hints(engine);
  if (!hints.ok()) return hints.status();
  if (!opened.lost.empty()) {
    if (Status status = settle(engine); !status.ok()) return status;
  }
  const Result<uint64_t> generation = next_generation(engine);
  if (!generation.ok()) return generation.status();
  Result<std::string> peers = read_meta(engine, kPeersKey);
  if (!peers.ok()) return peers.status();
  Result<std::string> acceptor = read_meta(engine, kAcceptorKey);
  if (!acceptor.ok()) return acceptor.status();
  Result<std::string> older_copy = read_meta(engine, kOlderCopyKey);
  if (!older_copy.ok()) return older_copy.status();
  Result<std::string> damage = read_meta(engine, kDamageKey);
  if (!damage.ok()) return damage.status();
  if (wholeness->incomplete() == 0) damage->clear();
  return OpenedStore{.engine = std::move(opened.engine),
                     .ring = std::move(ring),
                     .recovered = *std::move(recovered),
                     .hints = *std::move(hints),
                     .generation = *generation,
                     .wholeness = *std::move(wholeness),
                     .peers_record = *std::move(peers),
                     .acceptor_record = *std::move(acceptor),
                     .older_copy_record = *std::move(older_copy),
                     .log_damage = std::move(opened.log_damage),
                     .lost = std::move(opened.lost),
                     .damage = *std::move(damage)};
}

// Whether a failure may be a damaged file's, and goes away with it.
struct Attempt {
  Result<OpenedStore> opened;
  bool maybe_damage = false;
  std::string log_damage = {};  // seen by this attempt alone
};

Attempt try_to_open(const EngineOpener& open_engine, const Actor& self, const Identity& identity,
                    const Founding& founding, OpenMode mode) {
  std::string log_damage;
  const auto maybe_damaged = [&log_damage](const Status& status) {
    return Attempt{status, status.code() == StatusCode::kCorruption, log_damage};
  };
  Result<OpenedEngine> opened = open_engine(mode);
  if (!opened.ok()) return maybe_damaged(opened.status());
  log_damage = opened->log_damage;
  Result<std::string> encoded = read_meta(*opened->engine, kRingKey);
  if (!encoded.ok()) return maybe_damaged(encoded.status());
  Result<RingDescription> ring = check_or_found(*opened->engine, identity, founding, *std::move(encoded));
  if (!ring.ok()) return {ring.status()};
  Result<OpenedStore> store = recover(*std::move(opened), *std::move(ring), self);
  if (!store.ok()) return maybe_damaged(store.status());
  return {std::move(store)};
}

}  // namespace

Result<RingDescription> found_ring(const Identity& identity, const Founding& founding) {
  if (Status status = check_founding(identity, founding); !status.ok()) return status;
  RingDescription ring;
  ring.cluster = identity.cluster;
  ring.placer = founding.placer;
  ring.replicas = founding.replicas;
  ring.members = {{.node = identity.node,
                   .disk = identity.disk,
                   .name = identity.name,
                   .rack = founding.rack,
                   .weight = founding.weight}};
  ring.owners = founding.placer == PlacerKind::kHashed
                    ? place_hashed(ring.members, founding.partitions)
                    : place_balanced({}, {}, ring.members, founding.partitions, founding.replicas);
  ring.buckets = {BucketDescription()};
  ring.secret = founding.secret;
  return ring;
}

Result<OpenedStore> open_store(const EngineOpener& open_engine, const Identity& identity, Boot boot,
                               const Founding& founding, OpenMode mode) {
  const Actor self{identity.node, boot};
  Attempt attempt = try_to_open(open_engine, self, identity, founding, mode);
  if (!attempt.maybe_damage || mode == OpenMode::kSetDamagedAside) return std::move(attempt.opened);
  const std::string log_damage = std::move(attempt.log_damage);
  attempt = try_to_open(open_engine, self, identity, founding, OpenMode::kSetDamagedAside);
  if (attempt.opened.ok() && attempt.opened->log_damage.empty()) attempt.opened->log_damage = log_damage;
  return std::move(attempt.opened);
}

}  // namespace ringkv
