#include "gossip/older_copy.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/plants.h"
#include "base/text.h"

// The record, format 1:
//
//   u8   format (1)
//   u32  CRC-32C of all behind it
//   u64  lineage, u64 epoch: the latest ring that voters have said to hold
//   u8   1: a majority of them has said so; 0: not yet
//   varint lives that are known to be lacking, at most 1,024, the last found last; each u64

namespace ringkv {
namespace {

constexpr uint8_t kFormat = 1;
constexpr uint64_t kEpochsToPass = 2;
constexpr size_t kLostLivesMax = 1024;

}  // namespace

std::string OlderCopy::encode() const {
  std::string body;
  ByteWriter out(body);
  out.u64(latest_heard_.first);
  out.u64(latest_heard_.second);
  out.u8(is_known_ ? 1 : 0);
  out.varint(lost_.size());
  for (const Boot life : lost_) out.u64(life.value);

  std::string bytes;
  ByteWriter head(bytes);
  head.u8(kFormat);
  head.u32(crc32c(body));
  head.bytes(body);
  return bytes;
}

Status OlderCopy::load(std::string_view bytes) {
  if (bytes.empty()) return {};
  ByteReader in(bytes);
  const uint8_t format = in.u8();
  if (format != kFormat)
    return corruption(
        cat("the note of an older copy: format ", int{format}, ", this build reads ", int{kFormat}));
  const bool whole = in.u32() == crc32c(in.rest());
  latest_heard_.first = in.u64();
  latest_heard_.second = in.u64();
  is_known_ = in.u8() != 0;
  const size_t lost = in.count(sizeof(uint64_t));
  if (lost > kLostLivesMax) in.fail();
  for (size_t i = 0; i < lost && in.ok(); ++i) lost_.push_back({in.u64()});
  if (!whole || !in.finished())
    return corruption(
        cat("the note that this directory is an older copy is damaged (", bytes.size(),
            " bytes): start this node with an empty directory and join it again under its name"));
  return {};
}

bool OlderCopy::on_remembered(const std::vector<Boot>& lives) {
  const size_t before = lost_.size();
  for (const Boot life : lives) {
    const auto is_it = [life](Boot known) { return known == life; };
    if (std::none_of(lives_.begin(), lives_.end(), is_it) && std::none_of(lost_.begin(), lost_.end(), is_it))
      lost_.push_back(life);
  }
  if (lost_.size() == before) return false;
  if (lost_.size() > kLostLivesMax)
    lost_.erase(lost_.begin(), lost_.end() - static_cast<std::ptrdiff_t>(kLostLivesMax));
  latest_heard_ = {};
  is_known_ = false;
  changed_ = true;
  return true;
}

void OlderCopy::on_ring_of(const Electorate::Seat& member, uint64_t lineage, uint64_t epoch,
                           const Electorate& ring) {
  if (member.node == self_) return;
  Heard& heard = heard_[member.node];
  heard.disk = member.disk;
  heard.latest = std::max(heard.latest, RingOrder(lineage, epoch));
  look(ring);
}

void OlderCopy::on_ring(const Electorate& ring) { look(ring); }

// Who the voters of X are is known only by who holds X.
void OlderCopy::look(const Electorate& ring) {
  if (lost_.empty() || is_known_) return;
  RingOrder latest = std::max(latest_heard_, RingOrder(ring.lineage, ring.epoch));
  for (const auto& [member, heard] : heard_) latest = std::max(latest, heard.latest);
  if (latest != latest_heard_) changed_ = true;
  latest_heard_ = latest;
  if (latest != RingOrder(ring.lineage, ring.epoch)) return;
  const auto voters =
      std::count_if(ring.seats.begin(), ring.seats.end(), [this](const Electorate::Seat& seat) {
        const auto heard = heard_.find(seat.node);
        return heard != heard_.end() && heard->second.disk == seat.disk;
      });
  if (static_cast<size_t>(voters) < ring.majority()) return;
  is_known_ = true;
  changed_ = true;
}

bool OlderCopy::may_vote(NodeId proposer, const Electorate& ring) const {
  if (proposer != self_ && !heard_.contains(proposer)) return false;
  if (lost_.empty() || planted(Plant::kVoteAfterRestore)) return true;
  return is_known_ && RingOrder(ring.lineage, ring.epoch) >=
                          RingOrder(latest_heard_.first, latest_heard_.second + kEpochsToPass);
}

std::optional<MetaRecord> OlderCopy::take_record() {
  if (!std::exchange(changed_, false)) return std::nullopt;
  return MetaRecord{std::string(kOlderCopyKey), encode()};
}

}  // namespace ringkv
