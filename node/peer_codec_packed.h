// What many messages have in long lists, packed: versions vectors, contexts, dots, actors. Little-endian;
// numbers without a size are varints. Readers bound what they read by the bytes that are there.
//
//   actor    u64 node, u64 boot           vector   entries | each: actor, counter
//   dots     n | each: actor, counter     context  vector | u64 highest time
//
// For node/peer_codec*.cc.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "storage/record.h"

namespace ringkv {

void pack(const Actor& actor, ByteWriter& writer);
void pack(const std::vector<Actor>& actors, ByteWriter& writer);
void pack(const VersionVector& vector, ByteWriter& writer);
void pack(const CausalContext& context, ByteWriter& writer);
void pack(const std::vector<Dot>& dots, ByteWriter& writer);

// A wrong field makes the reader fail.
Actor unpack_actor(ByteReader& reader);
std::vector<Actor> unpack_actors(ByteReader& reader);  // in order
VersionVector unpack_vector(ByteReader& reader);
CausalContext unpack_context(ByteReader& reader);
std::vector<Dot> unpack_dots(ByteReader& reader);  // in order, each once

}  // namespace ringkv
