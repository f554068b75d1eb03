// What one client has seen of each key: the contexts of its last answers. Its next blind put of that key
// carries them (ClientPut::seen), so that its own writes follow each other through whatever coordinator.
//
// Bounded: the least recently used key goes first. A put of a key that went may leave a sibling of the
// client's own earlier write, when it comes to a coordinator that has not heard of that one.
//
// No thread of its own: called on one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/client_message.h"
#include "base/token.h"

namespace ringkv {

class SeenContexts {
 public:
  struct Limits {
    size_t keys_max = 65'536;
    size_t bytes_max = size_t{16} << 20;  // of contexts
  };

  SeenContexts() : SeenContexts(Limits()) {}
  explicit SeenContexts(const Limits& limits);

  struct Key {
    KeyIdentity identity;
    Token token = 0;
  };
  // Of a put or a get; nothing: the request shows no context of one key.
  static std::optional<Key> key_of(const ClientRequest& request);

  // What an answer to such a request shows.
  void note(const Key& key, const ClientReply& reply);

  // `context`: encoded, from an answer about the key. Joined with what is there, since a late answer of a
  // replica that was behind must not take anything back; what is empty or doesn't decode changes nothing.
  void note(const KeyIdentity& key, Token token, std::string_view context);

  // Encoded; empty: nothing that is remembered.
  std::string seen(const KeyIdentity& key);

  size_t keys() const { return entries_.size() - free_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  using Index = uint32_t;  // of an entry
  static constexpr Index kNone = ~Index{0};

  // In a list by use.
  struct Entry {
    KeyIdentity key;
    std::string context;
    Index newer = kNone;
    Index older = kNone;
  };

  static uint32_t hash_of(const KeyIdentity& key);
  size_t home_of(uint64_t slot) const { return (slot >> 32) & (slots_.size() - 1); }
  size_t slot_of(const KeyIdentity& key) const;
  Index find(const KeyIdentity& key) const;
  Index add(const KeyIdentity& key);
  void grow();
  void empty_slot(size_t slot);
  void take_out(const Entry& entry);
  void make_newest(Index index);
  void replace(Entry& entry, std::string_view context);
  Index drop_oldest();

  const Limits limits_;
  // Every request comes by here, so the table is made for few cache misses: linear probing over words that
  // hold hash and index + 1; zero: empty.
  std::vector<uint64_t> slots_;
  std::vector<Entry> entries_;
  std::vector<Index> free_;
  Index newest_ = kNone;
  Index oldest_ = kNone;
  size_t bytes_ = 0;
};

}  // namespace ringkv
