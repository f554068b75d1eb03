#include "storage/record_codec.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "base/text.h"

// A record, format 1; numbers without a size are varints:
//
//   u8   format (1)
//   u64  u64   hash, low and high
//        content bytes
//   u64  highest time of the context
//   u8   1 where the context is stripped, else 0
//        actors, then each:           u64 node, u64 boot       in order, each once
//        context entries, then each:  actor's index, counter   in order of actor, each once
//        versions, then each:         actor's index, counter   dots, in order, each once
//   ---------------------------------------------------------- the head ends here
//   of each version:
//     u8   bit 0 kind, bits 1-3 source, bit 4 has an expiry, bit 5 has an operation
//          highest time - time, modulo 2^64 (0 where there is one version)
//          expiry in ms                        with bit 4
//     u64  operation's client, its sequence    with bit 5
//          bytes of the value                  not for a tombstone
//   ---------------------------------------------------------- the values begin here
//   the values, one after another, to the end
//
// An actor is written once however many entries and dots are its. A stripped context may lack the entry of an
// actor that still has dots.

namespace ringkv {
namespace {

constexpr uint8_t kFormat = 1;
constexpr uint8_t kKindBit = 0x01;
constexpr int kSourceShift = 1;
constexpr uint8_t kSourceBits = 0x07 << kSourceShift;
constexpr uint8_t kExpiryBit = 0x10;
constexpr uint8_t kOperationBit = 0x20;
constexpr uint8_t kKnownBits = kKindBit | kSourceBits | kExpiryBit | kOperationBit;

constexpr size_t kActorBytes = 16;
constexpr size_t kReferenceBytesMin = 2;  // index and counter

// Both lists are in order of actor.
std::vector<Actor> actors_of(const Record& record) {
  std::vector<Actor> actors;
  actors.reserve(record.context.vector.entries().size() + record.versions.size());
  for (const VersionVector::Entry& entry : record.context.vector.entries()) actors.push_back(entry.actor);
  for (const Version& version : record.versions) {
    if (!record.context.covers({version.dot.actor, 1})) actors.push_back(version.dot.actor);
  }
  std::sort(actors.begin(), actors.end());
  actors.erase(std::unique(actors.begin(), actors.end()), actors.end());
  return actors;
}

uint64_t index_of(const std::vector<Actor>& actors, const Actor& actor) {
  return static_cast<uint64_t>(std::lower_bound(actors.begin(), actors.end(), actor) - actors.begin());
}

void write_head(const Record& record, const Hash128& hash, uint64_t content_bytes, ByteWriter& writer) {
  const std::vector<Actor> actors = actors_of(record);
  writer.u8(kFormat);
  writer.u64(hash.low);
  writer.u64(hash.high);
  writer.varint(content_bytes);
  writer.u64(record.context.highest_time);
  writer.u8(record.context.stripped ? 1 : 0);
  writer.varint(actors.size());
  for (const Actor& actor : actors) {
    writer.u64(actor.node.value);
    writer.u64(actor.boot.value);
  }
  writer.varint(record.context.vector.entries().size());
  for (const VersionVector::Entry& entry : record.context.vector.entries()) {
    writer.varint(index_of(actors, entry.actor));
    writer.varint(entry.counter);
  }
  writer.varint(record.versions.size());
  const Dot* last = nullptr;
  for (const Version& version : record.versions) {
    CHECK(version.dot.counter > 0 && (last == nullptr || *last < version.dot));
    last = &version.dot;
    writer.varint(index_of(actors, version.dot.actor));
    writer.varint(version.dot.counter);
  }
}

void write_attributes(const Version& version, HybridTime highest_time, ByteWriter& writer) {
  const bool tombstone = version.kind == VersionKind::kTombstone;
  CHECK(!tombstone || version.value.empty());
  auto bits = static_cast<uint8_t>(static_cast<uint8_t>(version.source) << kSourceShift);
  if (tombstone) bits |= kKindBit;
  if (version.expires_at_ms != 0) bits |= kExpiryBit;
  if (version.operation) bits |= kOperationBit;
  writer.u8(bits);
  writer.varint(highest_time - version.time);
  if (version.expires_at_ms != 0) writer.varint(version.expires_at_ms);
  if (version.operation) {
    writer.u64(version.operation.client);
    writer.varint(version.operation.sequence);
  }
  if (!tombstone) writer.varint(version.value.size());
}

// After a wrong field a reader fails and yields zeros, so that the callers' loops only ask ok() at their end;
// they are bounded by counts that were checked against the bytes left.

std::vector<Actor> read_actors(ByteReader& reader) {
  const size_t count = reader.count(kActorBytes);
  if (count > kContextActorsMax + kRecordVersionsMax) reader.fail();
  std::vector<Actor> actors;
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    const NodeId node{reader.u64()};
    const Actor actor{node, Boot{reader.u64()}};
    if (!actors.empty() && !(actors.back() < actor)) reader.fail();
    actors.push_back(actor);
  }
  return actors;
}

// Entries of the context and dots of the versions are written alike.
std::vector<Dot> read_references(const std::vector<Actor>& actors, size_t count_max, ByteReader& reader) {
  const size_t count = reader.count(kReferenceBytesMin);
  if (count > count_max) reader.fail();
  std::vector<Dot> dots;
  if (reader.ok()) dots.reserve(count);
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    const uint64_t index = reader.varint();
    const uint64_t counter = reader.varint();
    if (index >= actors.size() || counter == 0) {
      reader.fail();
      break;
    }
    const Dot dot{actors[index], counter};
    if (!dots.empty() && !(dots.back() < dot)) reader.fail();
    dots.push_back(dot);
  }
  return dots;
}

VersionVector read_vector(const std::vector<Actor>& actors, ByteReader& reader) {
  VersionVector vector;
  const Actor* last = nullptr;
  const std::vector<Dot> entries = read_references(actors, kContextActorsMax, reader);
  for (const Dot& entry : entries) {
    if (last != nullptr && *last == entry.actor) reader.fail();
    last = &entry.actor;
    vector.raise(entry.actor, entry.counter);
  }
  return vector;
}

RecordHead read_head(ByteReader& reader) {
  RecordHead head;
  head.hash.low = reader.u64();
  head.hash.high = reader.u64();
  head.content_bytes = reader.varint();
  head.context.highest_time = reader.u64();
  const uint8_t stripped = reader.u8();
  if (stripped > 1) reader.fail();
  head.context.stripped = stripped == 1;
  const std::vector<Actor> actors = read_actors(reader);
  head.context.vector = read_vector(actors, reader);
  head.dots = read_references(actors, kRecordVersionsMax, reader);
  return head;
}

struct Attributes {
  Version version;  // without its value
  size_t value_bytes = 0;
};

Attributes read_attributes(const Dot& dot, HybridTime highest_time, ByteReader& reader) {
  Attributes read;
  const uint8_t bits = reader.u8();
  const uint8_t source = (bits & kSourceBits) >> kSourceShift;
  if ((bits & ~kKnownBits) != 0 || source > static_cast<uint8_t>(Source::kTransfer)) reader.fail();
  read.version.dot = dot;
  read.version.kind = (bits & kKindBit) != 0 ? VersionKind::kTombstone : VersionKind::kValue;
  read.version.source = static_cast<Source>(source);
  read.version.time = highest_time - reader.varint();
  if ((bits & kExpiryBit) != 0) {
    read.version.expires_at_ms = reader.varint();
    if (read.version.expires_at_ms == 0) reader.fail();
  }
  if ((bits & kOperationBit) != 0) {
    read.version.operation.client = reader.u64();
    read.version.operation.sequence = reader.varint();
    if (!read.version.operation) reader.fail();
  }
  if (read.version.kind == VersionKind::kValue) read.value_bytes = reader.varint();
  if (read.value_bytes > kValueBytesMax) reader.fail();
  return read;
}

// The version that comes next; nearly all are. Its first byte tells.
bool is_value_that_stays(ByteReader next) {
  const uint8_t bits = next.u8();
  return next.ok() && (bits & (kKindBit | kExpiryBit)) == 0;
}

std::vector<Attributes> read_all_attributes(const RecordHead& head, ByteReader& reader) {
  std::vector<Attributes> read;
  read.reserve(head.dots.size());
  for (const Dot& dot : head.dots) read.push_back(read_attributes(dot, head.context.highest_time, reader));
  return read;
}

// Nothing, or why the bytes can't be read at all.
Status read_format(ByteReader& reader) {
  const uint8_t format = reader.u8();
  if (!reader.ok()) return corruption("a record of 0 bytes");
  if (format == kFormat) return {};
  return corruption(cat("a record has format ", int{format}, "; this version reads format ", int{kFormat}));
}

Status malformed(std::string_view bytes) {
  return corruption(cat("a record of ", bytes.size(), " bytes is malformed"));
}

}  // namespace

bool within_limits(const Record& record) {
  return record.versions.size() <= kRecordVersionsMax &&
         record.context.vector.entries().size() <= kContextActorsMax &&
         std::all_of(record.versions.begin(), record.versions.end(),
                     [](const Version& version) { return version.value.size() <= kValueBytesMax; });
}

RecordHead head_of(const Record& record, const Hash128& hash, uint64_t content_bytes) {
  RecordHead head{record.context, {}, hash, content_bytes, is_transient(record.versions)};
  head.dots.reserve(record.versions.size());
  for (const Version& version : record.versions) head.dots.push_back(version.dot);
  return head;
}

void encode_record(const Record& record, const Hash128& hash, uint64_t content_bytes, std::string& out) {
  ByteWriter writer(out);
  write_head(record, hash, content_bytes, writer);
  for (const Version& version : record.versions) {
    write_attributes(version, record.context.highest_time, writer);
  }
  for (const Version& version : record.versions) writer.bytes(version.value);
}

Result<Record> decode_record(std::string_view bytes) {
  ByteReader reader(bytes);
  if (Status format = read_format(reader); !format.ok()) return format;
  RecordHead head = read_head(reader);
  std::vector<Attributes> read = read_all_attributes(head, reader);

  Record record{std::move(head.context), {}};
  record.versions.reserve(read.size());
  for (Attributes& attributes : read) {
    attributes.version.value = reader.bytes(attributes.value_bytes);
    record.versions.push_back(std::move(attributes.version));
  }
  if (!reader.finished()) return malformed(bytes);
  return record;
}

Result<RecordOutline> decode_record_outline(std::string_view bytes) {
  ByteReader reader(bytes);
  if (Status format = read_format(reader); !format.ok()) return format;
  RecordOutline outline;
  outline.head = read_head(reader);
  std::vector<Attributes> read = read_all_attributes(outline.head, reader);
  outline.versions.reserve(read.size());
  for (Attributes& attributes : read) {
    reader.bytes(attributes.value_bytes);
    outline.versions.push_back(std::move(attributes.version));
  }
  if (!reader.finished()) return malformed(bytes);
  outline.head.transient = is_transient(outline.versions);
  return outline;
}

Result<RecordHead> decode_record_head(std::string_view bytes) {
  ByteReader reader(bytes);
  if (Status format = read_format(reader); !format.ok()) return format;
  RecordHead head = read_head(reader);
  head.transient = true;
  for (size_t i = 0; i < head.dots.size() && head.transient; ++i) {
    head.transient = !is_value_that_stays(reader);
    if (head.transient) read_attributes(head.dots[i], head.context.highest_time, reader);
  }
  if (!reader.ok()) return malformed(bytes);
  return head;
}

}  // namespace ringkv
