#include "gossip/acceptor.h"

#include <tuple>
#include <utility>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/plants.h"
#include "base/text.h"

// A voter's record, format 1:
//
//   u8      format (1)
//   u32     CRC-32C of all behind it
//   u64     lineage, u64 epoch that the votes are about
//   string  digest of the ring before that epoch's
//   u64     promised: round, u64 node, u64 boot
//   u64     accepted: round, u64 node, u64 boot; zeros: nothing
//   string  the description accepted; empty exactly when nothing was
//
// It is of one epoch; votes about a later one overwrite it.

namespace ringkv {
namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kDigestBytesMax = 64;

void write_ballot(ByteWriter& out, const Ballot& ballot) {
  out.u64(ballot.round);
  out.u64(ballot.node.value);
  out.u64(ballot.boot.value);
}

Ballot read_ballot(ByteReader& in) {
  Ballot ballot;
  ballot.round = in.u64();
  ballot.node = {in.u64()};
  ballot.boot = {in.u64()};
  return ballot;
}

bool is_consistent(const VoteRecord& votes) {
  return votes.promised && votes.accepted <= votes.promised && !votes.accepted == votes.value.empty();
}

bool is_usable(const Ballot& ballot) { return ballot && ballot.round <= kRoundMax; }

}  // namespace

std::string encode_vote_record(const VoteRecord& votes) {
  std::string body;
  ByteWriter out(body);
  out.u64(votes.lineage);
  out.u64(votes.epoch);
  out.string(votes.follows);
  write_ballot(out, votes.promised);
  write_ballot(out, votes.accepted);
  out.string(votes.value);

  std::string bytes;
  ByteWriter head(bytes);
  head.u8(kFormat);
  head.u32(crc32c(body));
  head.bytes(body);
  return bytes;
}

Result<VoteRecord> decode_vote_record(std::string_view bytes) {
  if (bytes.empty()) return VoteRecord();
  ByteReader in(bytes);
  const uint8_t format = in.u8();
  if (format != kFormat)
    return corruption(cat("votes on disk: format ", int{format}, ", this build reads ", int{kFormat}));
  const bool whole = in.u32() == crc32c(in.rest());
  VoteRecord votes;
  votes.lineage = in.u64();
  votes.epoch = in.u64();
  votes.follows = in.string(kDigestBytesMax);
  votes.promised = read_ballot(in);
  votes.accepted = read_ballot(in);
  votes.value = in.string(kDescriptionBytesMax);
  if (!whole || !in.finished() || !is_consistent(votes))
    return corruption(cat("the votes on disk are damaged (", bytes.size(),
                          " bytes): a node that can't know what it promised must not vote; start it with an "
                          "empty directory and join it again under its name"));
  return votes;
}

// Whether this node votes there. The first vote about a later epoch forgets those about the one before.
bool Acceptor::begin(const Instance& instance, const Electorate& ring) {
  if (!ring.has_seat(self_.node, self_.disk) && !planted(Plant::kVoteAfterWipe)) return false;
  if (instance.epoch != ring.epoch + 1 || instance.follows != ring.digest) return false;
  const auto wanted = std::tie(ring.lineage, instance.epoch);
  const auto held = std::tie(votes_.lineage, votes_.epoch);
  // Votes that are ahead of the ring: the directory has lost its ring, and with it what was chosen here.
  if (wanted < held) return false;
  if (wanted == held) return instance.follows == votes_.follows;
  votes_ = {.lineage = ring.lineage, .epoch = instance.epoch, .follows = ring.digest};
  return true;
}

// Also where nothing is new: an answer to a message that came twice must wait for the first one's record.
void Acceptor::record(GossipOutbox& outbox) const {
  if (!planted(Plant::kForgetPromise)) outbox.record({std::string(kAcceptorKey), encode_vote_record(votes_)});
}

void Acceptor::on(NodeId from, const Prepare& prepare, const Electorate& ring, GossipOutbox& outbox) {
  if (!is_usable(prepare.ballot) || !begin({prepare.epoch, prepare.follows}, ring)) return;
  Promise answer{.epoch = prepare.epoch, .ballot = prepare.ballot, .voter = self_};
  if (prepare.ballot < votes_.promised) {
    answer.promised = votes_.promised;
    return outbox.send(from, std::move(answer));
  }
  votes_.promised = prepare.ballot;
  record(outbox);
  answer.promised = votes_.promised;
  answer.accepted = votes_.accepted;
  answer.value = votes_.value;
  outbox.send(from, std::move(answer));
}

void Acceptor::on(NodeId from, const Accept& accept, const Electorate& ring, GossipOutbox& outbox) {
  if (accept.value.empty() || accept.value.size() > kDescriptionBytesMax) return;
  if (!is_usable(accept.ballot) || !begin({accept.epoch, accept.follows}, ring)) return;
  Accepted answer{.epoch = accept.epoch, .ballot = accept.ballot, .voter = self_};
  if (accept.ballot < votes_.promised) {
    answer.promised = votes_.promised;
    return outbox.send(from, std::move(answer));
  }
  votes_.promised = accept.ballot;
  votes_.accepted = accept.ballot;
  votes_.value = accept.value;
  record(outbox);
  answer.promised = votes_.promised;
  outbox.send(from, std::move(answer));
}

}  // namespace ringkv
