#include "node/peer_codec_packed.h"

namespace ringkv {
namespace {

constexpr size_t kActorBytes = 16;
constexpr size_t kDotBytesMin = 17;

}  // namespace

void pack(const Actor& actor, ByteWriter& writer) {
  writer.u64(actor.node.value);
  writer.u64(actor.boot.value);
}

void pack(const std::vector<Actor>& actors, ByteWriter& writer) {
  writer.varint(actors.size());
  for (const Actor& actor : actors) pack(actor, writer);
}

void pack(const VersionVector& vector, ByteWriter& writer) {
  writer.varint(vector.entries().size());
  for (const VersionVector::Entry& entry : vector.entries()) {
    pack(entry.actor, writer);
    writer.varint(entry.counter);
  }
}

void pack(const CausalContext& context, ByteWriter& writer) {
  pack(context.vector, writer);
  writer.u64(context.highest_time);
}

void pack(const std::vector<Dot>& dots, ByteWriter& writer) {
  writer.varint(dots.size());
  for (const Dot& dot : dots) {
    pack(dot.actor, writer);
    writer.varint(dot.counter);
  }
}

Actor unpack_actor(ByteReader& reader) {
  const NodeId node{reader.u64()};
  return {node, Boot{reader.u64()}};
}

std::vector<Actor> unpack_actors(ByteReader& reader) {
  std::vector<Actor> actors;
  for (size_t left = reader.count(kActorBytes); left > 0 && reader.ok(); --left) {
    const Actor actor = unpack_actor(reader);
    if (!actors.empty() && !(actors.back() < actor)) reader.fail();
    actors.push_back(actor);
  }
  return actors;
}

// In order, so that each entry is appended.
VersionVector unpack_vector(ByteReader& reader) {
  VersionVector vector;
  for (size_t left = reader.count(kDotBytesMin); left > 0 && reader.ok(); --left) {
    const Actor actor = unpack_actor(reader);
    const uint64_t counter = reader.varint();
    const bool in_order = vector.empty() || vector.entries().back().actor < actor;
    if (!in_order || counter == 0) reader.fail();
    if (reader.ok()) vector.raise(actor, counter);
  }
  return vector;
}

CausalContext unpack_context(ByteReader& reader) {
  CausalContext context;
  context.vector = unpack_vector(reader);
  context.highest_time = reader.u64();
  return context;
}

std::vector<Dot> unpack_dots(ByteReader& reader) {
  std::vector<Dot> dots;
  for (size_t left = reader.count(kDotBytesMin); left > 0 && reader.ok(); --left) {
    Dot dot;
    dot.actor = unpack_actor(reader);
    dot.counter = reader.varint();
    if (dot.counter == 0 || (!dots.empty() && !(dots.back() < dot))) reader.fail();
    dots.push_back(dot);
  }
  return dots;
}

}  // namespace ringkv
