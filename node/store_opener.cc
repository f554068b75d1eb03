#include "node/store_opener.h"

#include <bit>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "gossip/epoch_register.h"
#include "gossip/older_copy.h"
#include "gossip/peer_book.h"
#include "replication/placer.h"

namespace ringkv {
namespace {

constexpr uint32_t kReplicasMax = 32;

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

Result<RingDescription> read_or_found(Engine& engine, const Identity& identity, const Founding& founding) {
  Result<std::string> encoded = read_meta(engine, kRingKey);
  if (!encoded.ok()) return encoded.status();
  if (encoded->empty() && !founding.joined_ring.empty()) {
    const Result<RingDescription> joined = decode_ring_description(founding.joined_ring);
    if (!joined.ok()) return joined.status();
    encoded = founding.joined_ring;
    // Before the ring is there: a crash in between must not make it look whole. A member that joined before
    // there were data has its vote; one that took the place of a lost disk since has none.
    const Member* self = joined->find_member(identity.node);
    if (joined->open && self != nullptr && !self->voter) {
      if (Status status = write_meta(engine, kIncompleteKey, "yes"); !status.ok()) return status;
    }
    if (Status status = write_meta(engine, kRingKey, *encoded); !status.ok()) return status;
  }
  if (!encoded->empty()) {
    Result<RingDescription> ring = decode_ring_description(*encoded);
    if (!ring.ok()) return ring;
    const Member* self = ring->find_member(identity.node);
    if (ring->cluster == identity.cluster && self != nullptr && self->disk == identity.disk) return ring;
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
                               const Founding& founding) {
  Result<OpenedEngine> opened = open_engine();
  if (!opened.ok()) return opened.status();
  Result<RingDescription> ring = read_or_found(*opened->engine, identity, founding);
  if (!ring.ok()) return ring.status();
  Result<RecoveredStore> recovered =
      recover_store(*opened->engine, ring->partitions(), {identity.node, boot});
  if (!recovered.ok()) return recovered.status();
  const Result<uint64_t> generation = next_generation(*opened->engine);
  if (!generation.ok()) return generation.status();
  Result<std::string> peers = read_meta(*opened->engine, kPeersKey);
  if (!peers.ok()) return peers.status();
  Result<std::string> acceptor = read_meta(*opened->engine, kAcceptorKey);
  if (!acceptor.ok()) return acceptor.status();
  Result<std::string> older_copy = read_meta(*opened->engine, kOlderCopyKey);
  if (!older_copy.ok()) return older_copy.status();
  const Result<std::string> incomplete = read_meta(*opened->engine, kIncompleteKey);
  if (!incomplete.ok()) return incomplete.status();
  return OpenedStore{.engine = std::move(opened->engine),
                     .ring = std::move(*ring),
                     .recovered = std::move(*recovered),
                     .generation = *generation,
                     .whole = incomplete->empty(),
                     .peers_record = *std::move(peers),
                     .acceptor_record = *std::move(acceptor),
                     .older_copy_record = *std::move(older_copy),
                     .log_damage = std::move(opened->log_damage)};
}

}  // namespace ringkv
