#include "gossip/peer_book.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

std::string own_text(const PeerWelcome& self) {
  return cat("this node is ", escaped(self.name), " (node ", hex(self.node.value), ")");
}

void begin_life(PeerBook::Entry& entry, DiskId disk, Boot boot) {
  if (entry.boot == boot) return;
  if (entry.boot) entry.earlier.insert(entry.earlier.begin(), entry.boot);
  if (entry.earlier.size() > kEarlierBootsMax) entry.earlier.resize(kEarlierBootsMax);
  const bool same_disk = !entry.earlier.empty() && entry.disk == disk;
  entry.earlier_of_disk =
      same_disk ? std::min(entry.earlier_of_disk + 1, static_cast<uint32_t>(kEarlierBootsMax)) : 0;
  entry.disk = disk;
  entry.boot = boot;
}

}  // namespace

std::string PeerBook::Greeter::to_text() const {
  return cat(escaped(hello.name), " (node ", hex(hello.node.value), ", at ", escaped(hello.peer_address),
             ")");
}

bool PeerBook::Greeter::has_later_ring() const {
  return std::tie(hello.lineage, hello.epoch) > std::tie(ring.lineage, ring.epoch);
}

// Everything that needs no ring to be seen: another program, nonsense.
Status PeerBook::check_versions(const Greeter& greeter) const {
  const PeerHello& hello = greeter.hello;
  if (hello.protocol != versions_.protocol)
    return invalid_argument(cat(greeter.to_text(), " speaks protocol ", hello.protocol, "; ", own_text(self_),
                                " and speaks protocol ", versions_.protocol,
                                ": run the same release on both"));
  if (hello.format != versions_.format)
    return invalid_argument(cat(greeter.to_text(), " has a data directory of format ", hello.format, "; ",
                                own_text(self_), " and has format ", versions_.format,
                                ": run the same release on both"));
  if (!hello.node || !hello.disk || !hello.boot)
    return invalid_argument(cat("the greeting of ", greeter.to_text(), " lacks its node, disk or boot"));
  if (hello.peer_address.size() > kAddressBytesMax || hello.client_address.size() > kAddressBytesMax)
    return invalid_argument(cat("node ", hex(hello.node.value), " greets with an address of more than ",
                                kAddressBytesMax, " bytes"));
  return {};
}

Status PeerBook::check_cluster(const Greeter& greeter) const {
  const PeerHello& hello = greeter.hello;
  if (hello.cluster && hello.cluster != greeter.ring.cluster)
    return forbidden(cat(greeter.to_text(), " belongs to cluster ", hex(hello.cluster.value), "; ",
                         own_text(self_), " of cluster ", hex(greeter.ring.cluster.value),
                         ": check the addresses that the nodes advertise and join"));
  return {};
}

Status PeerBook::check_self(const Greeter& greeter) const {
  const PeerHello& hello = greeter.hello;
  if (hello.to && hello.to != self_.node) {
    const bool foreign = hello.cluster && hello.cluster != greeter.ring.cluster;
    const auto of = [foreign](ClusterId cluster) {
      return foreign ? " of cluster " + hex(cluster.value) : "";
    };
    return unavailable(cat(greeter.to_text(), of(hello.cluster), " means node ", hex(hello.to.value),
                           ", but ", own_text(self_), of(greeter.ring.cluster),
                           ": do both advertise one address?"));
  }
  if (hello.node != self_.node) return {};
  if (hello.boot == self_.boot)
    return forbidden(cat(own_text(self_), " and has dialed itself at ", escaped(hello.peer_address),
                         ": nothing to do, but another node may advertise this address"));
  return forbidden(cat(own_text(self_), ", and so says ", greeter.to_text(),
                       ": a copy of this node's data directory runs there; stop one of the two for good, and "
                       "join it with an empty directory if it is to be a node of its own"));
}

Status PeerBook::check_not_lost(const Greeter& greeter, const Member& member) const {
  if (!member.lost) return {};
  return forbidden(cat(greeter.to_text(), " was declared lost by `ring force`: the others, ",
                       escaped(self_.name), " among them, go on without its data in lineage ",
                       greeter.ring.lineage, " (epoch ", greeter.ring.epoch, "; its own is lineage ",
                       greeter.hello.lineage, ", epoch ", greeter.hello.epoch,
                       "). It comes back only empty: wipe its directory and join it anew"));
}

Status PeerBook::check_member(const Greeter& greeter) const {
  const PeerHello& hello = greeter.hello;
  const Member* member = greeter.ring.find_member(hello.node);
  const bool is_known = member != nullptr && member->disk == hello.disk;
  // A later ring may say otherwise of whom this one has lost.
  if (is_known && !(member->lost && greeter.has_later_ring())) return check_not_lost(greeter, *member);
  if (greeter.has_later_ring()) {
    if (hello.channel == PeerChannel::kControl) return {};
    return unavailable(cat(greeter.to_text(), " isn't in the ring of epoch ", greeter.ring.epoch, " that ",
                           escaped(self_.name), " holds, but has epoch ", hello.epoch,
                           " itself: it is taken as soon as that has come here"));
  }
  if (member == nullptr)
    return not_found(cat(greeter.to_text(), " is not a member of cluster ", hex(greeter.ring.cluster.value),
                         " (ring of lineage ", greeter.ring.lineage, ", epoch ", greeter.ring.epoch, " at ",
                         escaped(self_.name), "; its own is of lineage ", hello.lineage, ", epoch ",
                         hello.epoch, "): ",
                         hello.lineage < greeter.ring.lineage
                             ? "the ring was forced without it (`ring force`), or it was removed since"
                             : "it was removed, or has never joined",
                         "; start it with an empty directory and --join"));
  return forbidden(cat(greeter.to_text(), " has disk ", hex(hello.disk.value), ", but the ring of epoch ",
                       greeter.ring.epoch, " at ", escaped(self_.name), " gives ", member->name, " disk ",
                       hex(member->disk.value),
                       ": its data directory was replaced; start the right one, or join an empty one under "
                       "the name ",
                       member->name, " while that is DOWN"));
}

bool PeerBook::names(const RingDescription& ring, NodeId node, DiskId disk) {
  const Member* member = ring.find_member(node);
  return member != nullptr && member->disk == disk;
}

PeerBook::Verdict PeerBook::judge_boot(const Greeter& greeter) const {
  const PeerHello& hello = greeter.hello;
  const Entry* known = find(hello.node);
  // Of one that only its own, later ring names nothing is remembered.
  if (!names(greeter.ring, hello.node, hello.disk) && !is_over(hello.node, hello.boot))
    return {.kind = Verdict::Kind::kWelcome};
  if (known == nullptr) {
    if (entries_.size() < kPeersMax) return {.kind = Verdict::Kind::kWelcome};
    return {.status = overloaded(cat(own_text(self_), " and remembers ", kPeersMax,
                                     " nodes already: ", greeter.to_text(), " has to wait"))};
  }
  if (is_over(hello.node, hello.boot))
    return {.status = forbidden(cat(greeter.to_text(), " greets with boot ", hex(hello.boot.value),
                                    ", which was replaced: it lives on with boot ", hex(known->boot.value),
                                    " at ", escaped(known->peer_address),
                                    "; a process was left running, or its directory was copied: stop the one "
                                    "that is too many"))};
  // Where the ring has given the place to another disk, a majority has decided; nobody need be asked.
  if (known->boot == hello.boot || known->disk != hello.disk) return {.kind = Verdict::Kind::kWelcome};
  // A greeting that was long under way, of a life that has ended, can't pass for a new one.
  if (hello.generation <= known->generation)
    return {.status = Status(StatusCode::kStaleEpoch,
                             cat(greeter.to_text(), " greets in generation ", hello.generation, ", but ",
                                 escaped(self_.name), " has met generation ", known->generation,
                                 " of it: it has to greet in a later one"))};
  return {.kind = Verdict::Kind::kAskFirst, .known = *known};
}

PeerBook::Verdict PeerBook::judge(const PeerHello& hello, const RingDescription& ring) const {
  const Greeter greeter{hello, ring};
  if (Status status = check_versions(greeter); !status.ok()) return {.status = std::move(status)};
  if (Status status = check_self(greeter); !status.ok()) return {.status = std::move(status)};
  if (Status status = check_cluster(greeter); !status.ok()) return {.status = std::move(status)};
  if (hello.channel == PeerChannel::kIdentify) return {.kind = Verdict::Kind::kWelcome};
  if (Status status = check_member(greeter); !status.ok()) return {.status = std::move(status)};
  return judge_boot(greeter);
}

MetaRecord PeerBook::accept(const PeerHello& hello) {
  if (hello.channel == PeerChannel::kIdentify || is_over(hello.node, hello.boot)) return record();
  Entry& entry = entries_[hello.node];
  entry.node = hello.node;
  begin_life(entry, hello.disk, hello.boot);
  entry.generation = std::max(entry.generation, hello.generation);
  entry.peer_address = hello.peer_address;
  entry.client_address = hello.client_address;
  return record();
}

std::optional<MetaRecord> PeerBook::accept(const PeerWelcome& welcome, const Address& peer_address) {
  if (!welcome.node || !welcome.disk || !welcome.boot || welcome.node == self_.node) return std::nullopt;
  if (self_.cluster && welcome.cluster != self_.cluster) return std::nullopt;
  if (peer_address.size() > kAddressBytesMax || is_over(welcome.node, welcome.boot)) return std::nullopt;
  const Entry* known = find(welcome.node);
  if (known == nullptr && entries_.size() >= kPeersMax) return std::nullopt;
  // Another life is believed where the known one was, and only a later one: an answer that was long under way
  // may be of a life that has ended.
  if (known != nullptr && known->boot != welcome.boot &&
      (known->peer_address != peer_address || welcome.generation <= known->generation))
    return std::nullopt;

  Entry next = known == nullptr ? Entry() : *known;
  next.node = welcome.node;
  begin_life(next, welcome.disk, welcome.boot);
  next.generation = std::max(next.generation, welcome.generation);
  next.peer_address = peer_address;
  if (known != nullptr && next == *known) return std::nullopt;
  entries_[welcome.node] = std::move(next);
  return record();
}

PeerBook::Remembered PeerBook::remembered(const PeerHello& hello) const {
  const Entry* known = find(hello.node);
  if (known == nullptr) return {};
  const auto of_disk = known->earlier.begin() + known->earlier_of_disk;
  if (known->boot == hello.boot) return {0, {known->earlier.begin(), of_disk}};
  Remembered remembered{known->generation, {}};
  if (known->disk != hello.disk) return remembered;
  remembered.boots = {known->boot};
  remembered.boots.insert(remembered.boots.end(), known->earlier.begin(), of_disk);
  if (remembered.boots.size() > kEarlierBootsMax) remembered.boots.resize(kEarlierBootsMax);
  return remembered;
}

std::optional<MetaRecord> PeerBook::keep_members(const RingDescription& ring) {
  const size_t forgotten =
      std::erase_if(entries_, [&](const auto& one) { return ring.find_member(one.first) == nullptr; });
  if (forgotten == 0) return std::nullopt;
  return record();
}

const PeerBook::Entry* PeerBook::find(NodeId node) const {
  const auto found = entries_.find(node);
  return found == entries_.end() ? nullptr : &found->second;
}

bool PeerBook::is_over(NodeId node, Boot boot) const {
  const Entry* known = find(node);
  return known != nullptr &&
         std::find(known->earlier.begin(), known->earlier.end(), boot) != known->earlier.end();
}

MetaRecord PeerBook::record() const { return {std::string(kPeersKey), encode()}; }

}  // namespace ringkv
