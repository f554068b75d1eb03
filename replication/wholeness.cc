// The record: u8 version (1) | one bit a partition that isn't whole, the lowest bit first.
#include "replication/wholeness.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"
#include "replication/quorum.h"
#include "storage/recovery.h"

namespace ringkv {
namespace {

constexpr char kVersion = 1;

// Lost owners will never be heard. One that survives is no source of its own, so that it takes another.
size_t sources_needed(const Ring& ring, std::span<const uint16_t> list) {
  const auto owners = static_cast<uint32_t>(list.size());
  const size_t needed = owners - smallest_write_quorum(ring.description(), owners) + 1;
  const auto lost = static_cast<size_t>(
      std::count_if(list.begin(), list.end(), [&](uint16_t position) { return ring.member(position).lost; }));
  if (lost == 0) return needed;
  return std::max<size_t>(1, std::min(needed, owners - std::min<size_t>(owners, lost + 1)));
}

}  // namespace

Wholeness::Wholeness(uint32_t partitions) : incomplete_(partitions) {}

Status Wholeness::load(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (bytes.front() != kVersion || bytes.size() != 1 + (incomplete_.size() + 7) / 8)
    return corruption("the list of partitions that aren't whole is damaged");
  incomplete_count_ = 0;
  for (size_t partition = 0; partition < incomplete_.size(); ++partition) {
    incomplete_[partition] = (bytes[1 + partition / 8] >> partition % 8 & 1) != 0;
    incomplete_count_ += incomplete_[partition] ? 1 : 0;
  }
  return {};
}

std::string Wholeness::encode() const {
  std::string bytes(1 + (incomplete_.size() + 7) / 8, '\0');
  bytes.front() = kVersion;
  for (size_t partition = 0; partition < incomplete_.size(); ++partition) {
    if (!incomplete_[partition]) continue;
    char& byte = bytes[1 + partition / 8];
    byte = static_cast<char>(byte | 1 << partition % 8);
  }
  return bytes;
}

std::vector<Partition> Wholeness::incomplete_partitions() const {
  std::vector<Partition> partitions;
  for (Partition partition = 0; partition < incomplete_.size(); ++partition) {
    if (incomplete_[partition]) partitions.push_back(partition);
  }
  return partitions;
}

void Wholeness::lose(Partition partition) {
  rounds_.erase(partition);
  if (incomplete_[partition]) return;
  incomplete_[partition] = true;
  ++incomplete_count_;
  changed_ = true;
}

void Wholeness::make_whole(Partition partition) {
  rounds_.erase(partition);
  if (!incomplete_[partition]) return;
  incomplete_[partition] = false;
  --incomplete_count_;
  changed_ = true;
}

void Wholeness::lose_all() {
  for (Partition partition = 0; partition < incomplete_.size(); ++partition) lose(partition);
}

void Wholeness::forget_foreign(const Ring& ring, NodeId self) {
  if (incomplete_count_ == 0) return;
  for (Partition partition = 0; partition < incomplete_.size(); ++partition) {
    if (!ring.is_owner(self, partition)) make_whole(partition);
  }
}

bool Wholeness::on_round(const std::vector<Partition>& partitions, NodeId source, const Ring& ring) {
  if (incomplete_count_ == 0) return false;
  bool some = false;
  for (const Partition partition : partitions) {
    const std::span<const uint16_t> list = ring.read_list(partition);
    const bool is_read = std::any_of(list.begin(), list.end(),
                                     [&](uint16_t position) { return ring.member(position).node == source; });
    if (!incomplete_[partition] || !is_read) continue;
    std::set<NodeId>& sources = rounds_[partition];
    sources.insert(source);
    if (sources.size() < sources_needed(ring, list)) continue;
    make_whole(partition);
    some = true;
  }
  return some;
}

void Wholeness::forget_rounds_from(NodeId source) {
  for (auto& [partition, sources] : rounds_) sources.erase(source);
}

std::vector<Partition> Wholeness::accept_loss() {
  std::vector<Partition> partitions = incomplete_partitions();
  incomplete_.assign(incomplete_.size(), false);
  incomplete_count_ = 0;
  rounds_.clear();
  changed_ = changed_ || !partitions.empty();
  return partitions;
}

std::optional<MetaRecord> Wholeness::take_record() {
  if (!std::exchange(changed_, false)) return std::nullopt;
  return MetaRecord{std::string(kIncompleteKey), encode()};
}

}  // namespace ringkv
