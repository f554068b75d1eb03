// What one client has seen of each key: the contexts of its last answers. Its next blind put of that key
// carries them (ClientPut::seen), so that its own writes follow each other through whatever coordinator.
//
// Bounded: the least recently used key goes first. A put of a key that went may leave a sibling of the
// client's own earlier write, when it comes to a coordinator that has not heard of that one.
//
// No thread of its own: called on one.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

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
  explicit SeenContexts(const Limits& limits) : limits_(limits) {}

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

  size_t keys() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    KeyIdentity key;
    std::string context;
  };
  using Entries = std::list<Entry>;

  void replace(Entry& entry, std::string context);

  const Limits limits_;
  Entries entries_;  // the most recently used first
  std::unordered_map<KeyIdentity, Entries::iterator> by_key_;
  size_t bytes_ = 0;
};

}  // namespace ringkv
