// The book as bytes.

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/text.h"
#include "gossip/peer_book.h"

// Format 2:
//
//   u8      format (1)
//   u32     CRC-32C of all behind it
//   varint  entries, at most 2,000, in order of node, each once; each
//             u64 node, u64 disk, u64 boot (none of them 0), u64 generation,
//             string peer address, string client address,
//             varint earlier boots, at most 16, latest first; each u64
//             varint how many of those, from the first on, were of the same disk
//
// Format 1 ends with the earlier boots.

namespace ringkv {
namespace {

constexpr uint8_t kFormat = 2;
constexpr uint8_t kFormatWithoutDisks = 1;
constexpr size_t kEntryBytesMin = 35;

void write_entry(ByteWriter& out, const PeerBook::Entry& entry) {
  out.u64(entry.node.value);
  out.u64(entry.disk.value);
  out.u64(entry.boot.value);
  out.u64(entry.generation);
  out.string(entry.peer_address);
  out.string(entry.client_address);
  out.varint(entry.earlier.size());
  for (const Boot boot : entry.earlier) out.u64(boot.value);
  out.varint(entry.earlier_of_disk);
}

PeerBook::Entry read_entry(ByteReader& in, uint8_t format) {
  PeerBook::Entry entry;
  entry.node = {in.u64()};
  entry.disk = {in.u64()};
  entry.boot = {in.u64()};
  entry.generation = in.u64();
  entry.peer_address = in.string(kAddressBytesMax);
  entry.client_address = in.string(kAddressBytesMax);
  const size_t earlier = in.count(sizeof(uint64_t));
  if (earlier > kEarlierBootsMax || !entry.node || !entry.disk || !entry.boot) in.fail();
  for (size_t i = 0; i < earlier && in.ok(); ++i) entry.earlier.push_back({in.u64()});
  if (format == kFormatWithoutDisks) return entry;
  const uint64_t of_disk = in.varint();
  if (of_disk > earlier) in.fail();
  entry.earlier_of_disk = static_cast<uint32_t>(of_disk);
  return entry;
}

std::map<NodeId, PeerBook::Entry> read_entries(ByteReader& in, uint8_t format) {
  std::map<NodeId, PeerBook::Entry> entries;
  const size_t count = in.count(kEntryBytesMin);
  if (count > kPeersMax) in.fail();
  for (size_t i = 0; i < count && in.ok(); ++i) {
    PeerBook::Entry entry = read_entry(in, format);
    if (!entries.empty() && !(entries.rbegin()->first < entry.node)) in.fail();
    entries.insert_or_assign(entry.node, std::move(entry));
  }
  return entries;
}

}  // namespace

std::string PeerBook::encode() const {
  std::string body;
  ByteWriter out(body);
  out.varint(entries_.size());
  for (const auto& [node, entry] : entries_) write_entry(out, entry);

  std::string bytes;
  ByteWriter head(bytes);
  head.u8(kFormat);
  head.u32(crc32c(body));
  head.bytes(body);
  return bytes;
}

Status PeerBook::load(std::string_view bytes) {
  if (bytes.empty()) {
    entries_.clear();
    return {};
  }
  ByteReader in(bytes);
  const uint8_t format = in.u8();
  if (format != kFormat && format != kFormatWithoutDisks)
    return corruption(cat("peers on disk: format ", int{format}, ", this build reads ", int{kFormat}));
  const bool whole = in.u32() == crc32c(in.rest());
  std::map<NodeId, Entry> entries = read_entries(in, format);
  if (!whole || !in.finished())
    return corruption(
        cat("the list of peers on disk is damaged (", bytes.size(),
            " bytes): start this node with an empty directory and join it again under its name"));
  entries_ = std::move(entries);
  return {};
}

}  // namespace ringkv
