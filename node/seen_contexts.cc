#include "node/seen_contexts.h"

#include <cstring>
#include <utility>

#include "storage/record_codec.h"

namespace ringkv {
namespace {

constexpr size_t kSlotsMin = 1024;  // a power of two

uint32_t index_in(uint64_t slot) { return static_cast<uint32_t>(slot) - 1; }

// Both in one. Where the two are more than a context may hold, the newer: a put must not be refused for it.
std::string joined(std::string_view known, std::string_view arrived, CausalContext context, Token token) {
  const Result<CausalContext> earlier = decode_client_context(known, token);
  if (!earlier.ok()) return std::string(arrived);
  if (context.vector.covers(earlier->vector) && context.highest_time >= earlier->highest_time)
    return std::string(arrived);
  context.join(*earlier);
  if (context.vector.entries().size() > kContextActorsMax) return std::string(arrived);
  return encode_client_context(context, token);
}

}  // namespace

SeenContexts::SeenContexts(const Limits& limits) : limits_(limits), slots_(kSlotsMin) {}

std::optional<SeenContexts::Key> SeenContexts::key_of(const ClientRequest& request) {
  const auto named = [](const auto& body) {
    return Key{identity_of(body.bucket, body.key), token_of(digest_of(body.bucket, body.key))};
  };
  if (const auto* put = std::get_if<ClientPut>(&request.body)) return named(*put);
  if (const auto* get = std::get_if<ClientGet>(&request.body)) return named(*get);
  return std::nullopt;
}

void SeenContexts::note(const Key& key, const ClientReply& reply) {
  if (!reply.status.ok()) return;
  const auto* got = std::get_if<GetResult>(&reply.body);
  note(key.identity, key.token, got != nullptr ? got->context.bytes() : reply.seen);
}

void SeenContexts::note(const KeyIdentity& key, Token token, std::string_view context) {
  if (context.empty()) return;
  const Index known = find(key);
  if (known != kNone) {
    make_newest(known);
    if (entries_[known].context == context) return;
  }
  Result<CausalContext> decoded = decode_client_context(context, token);
  if (!decoded.ok() || decoded->vector.empty()) return;
  if (known == kNone) {
    replace(entries_[add(key)], context);
  } else {
    replace(entries_[known], joined(entries_[known].context, context, *std::move(decoded), token));
  }
  while (keys() > 0 && bytes_ > limits_.bytes_max) entries_[drop_oldest()].context = std::string();
}

std::string SeenContexts::seen(const KeyIdentity& key) {
  const Index known = find(key);
  if (known == kNone) return "";
  make_newest(known);
  return entries_[known].context;
}

// ---- the table

uint32_t SeenContexts::hash_of(const KeyIdentity& key) {
  uint32_t hash = 0;
  std::memcpy(&hash, key.bytes.data(), sizeof hash);
  return hash;
}

// Where it is, or the empty one where it would be.
size_t SeenContexts::slot_of(const KeyIdentity& key) const {
  const uint32_t hash = hash_of(key);
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at] != 0 && (slots_[at] >> 32 != hash || entries_[index_in(slots_[at])].key != key))
    at = (at + 1) & (slots_.size() - 1);
  return at;
}

SeenContexts::Index SeenContexts::find(const KeyIdentity& key) const {
  const uint64_t slot = slots_[slot_of(key)];
  return slot == 0 ? kNone : index_in(slot);
}

SeenContexts::Index SeenContexts::add(const KeyIdentity& key) {
  if (keys() >= limits_.keys_max) drop_oldest();
  if (2 * keys() >= slots_.size()) grow();
  if (free_.empty()) {
    free_.push_back(static_cast<Index>(entries_.size()));
    entries_.emplace_back();
  }
  const Index index = free_.back();
  free_.pop_back();
  entries_[index].key = key;
  slots_[slot_of(key)] = uint64_t{hash_of(key)} << 32 | (index + 1);
  make_newest(index);
  return index;
}

void SeenContexts::grow() {
  const std::vector<uint64_t> before = std::exchange(slots_, std::vector<uint64_t>(2 * slots_.size()));
  for (const uint64_t slot : before) {
    if (slot == 0) continue;
    size_t at = home_of(slot);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

// What was pushed past it by others comes back, so that nobody looks for it beyond an empty one.
void SeenContexts::empty_slot(size_t slot) {
  const size_t mask = slots_.size() - 1;
  for (size_t at = (slot + 1) & mask; slots_[at] != 0; at = (at + 1) & mask) {
    if (((at - home_of(slots_[at])) & mask) < ((at - slot) & mask)) continue;
    slots_[slot] = slots_[at];
    slot = at;
  }
  slots_[slot] = 0;
}

// ---- the order of use

void SeenContexts::take_out(const Entry& entry) {
  (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
  (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
}

void SeenContexts::make_newest(Index index) {
  Entry& entry = entries_[index];
  if (newest_ == index) return;
  const bool listed = entry.newer != kNone;
  if (listed) take_out(entry);
  entry.newer = kNone;
  entry.older = newest_;
  (newest_ == kNone ? oldest_ : entries_[newest_].newer) = index;
  newest_ = index;
}

void SeenContexts::replace(Entry& entry, std::string_view context) {
  bytes_ += context.size() - entry.context.size();
  entry.context.assign(context);
  if (entry.context.capacity() > 2 * context.size()) entry.context.shrink_to_fit();
}

// Its memory is left for the key that comes in its place.
SeenContexts::Index SeenContexts::drop_oldest() {
  const Index index = oldest_;
  Entry& entry = entries_[index];
  empty_slot(slot_of(entry.key));
  take_out(entry);
  entry.newer = entry.older = kNone;
  bytes_ -= entry.context.size();
  entry.context.clear();
  free_.push_back(index);
  return index;
}

}  // namespace ringkv
