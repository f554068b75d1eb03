// The calls that store and fetch: the same for a peer inside this process (Db) and for a node elsewhere
// (Client).
//
// Keys are 1 to 65,535 bytes, values 0 to 16 MiB, bytes of any kind. An empty value is a value. Every call
// has a deadline and returns by then; every call may be made from any thread. The plain calls wait; the ones
// with a callback return at once and call back once: later, on the store's own thread, where a callback must
// not wait, or, when an option is malformed, from within the call.
//
// Of a write there are three answers, never mixed up: ok; a Status that says that nothing was written;
// UNKNOWN_OUTCOME: it may have been, and repeating the call with the operation id from the message tells
// which.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/status.h"

namespace ringkv {

inline constexpr size_t kKeyBytesMax = 65'535;
inline constexpr size_t kValueBytesMax = size_t{16} << 20;
inline constexpr std::chrono::milliseconds kRequestTimeoutDefault{5000};

// What a reader has seen of a key. Opaque; comes from a get or a put and goes into the next put of the same
// key, which then replaces exactly that. Refused for another key, or when damaged.
class Context {
 public:
  Context() = default;
  explicit Context(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

  friend bool operator==(const Context&, const Context&) = default;

 private:
  std::string bytes_;
};

enum class Durability : uint8_t {
  kSynced,    // acknowledged when it is on disk
  kBuffered,  // acknowledged when it is in the log: survives kill -9, not a power cut
};

struct PutOptions {
  std::string bucket = {};  // empty: the default bucket
  // Nothing: a blind put takes what its coordinator holds. Empty: replaces nothing.
  std::optional<Context> context = {};
  // Without a context: takes what r replicas hold, as every delete without one does.
  bool read_first = false;
  uint32_t w = 0;                             // acknowledgements; 0: the bucket's default
  std::optional<Durability> durability = {};  // nothing: the node's default
  bool primary = false;                       // only owners' acknowledgements count
  std::optional<std::chrono::milliseconds> ttl = {};
  std::string operation_id = {};  // of an earlier try, to learn or repeat its outcome
  std::chrono::milliseconds timeout = kRequestTimeoutDefault;
};

struct GetOptions {
  std::string bucket = {};
  uint32_t r = 0;  // answers; 0: the bucket's default
  std::chrono::milliseconds timeout = kRequestTimeoutDefault;
};

// One acknowledgement of a put: which node, how safe, and for whom where it only holds a hint.
struct Acknowledgement {
  enum class Kind : uint8_t { kSynced, kBuffered, kHint };

  std::string node;
  Kind kind = Kind::kSynced;
  std::string hint_for;

  friend bool operator==(const Acknowledgement&, const Acknowledgement&) = default;
};

struct PutReceipt {
  uint64_t epoch = 0;
  // Of what the put left behind. Empty where siblings stayed beside it, which the writer may not have seen,
  // and for a repeated operation: get the key before the next put.
  Context context;
  std::vector<Acknowledgement> acks;
  std::string operation_id;
};

struct GetResult {
  std::vector<std::string> values;  // the siblings, each distinct value once; empty: not found
  Context context;                  // also of a key that is not there: its deletes are part of what was seen
  uint64_t epoch = 0;
  bool unconfirmed =
      false;  // too few owners could be reached to be sure that no later read goes back in time

  bool found() const { return !values.empty(); }
};

struct ScanOptions {
  std::string bucket = {};
  std::string prefix = {};
  std::string after = {};  // a cursor from an earlier page; empty: from the start
  uint32_t limit = 0;      // entries a page at most; 0: as many as fit
  bool values = false;     // keys only, or with their values
  std::chrono::milliseconds timeout = kRequestTimeoutDefault;
};

struct ScanEntry {
  std::string key;
  std::vector<std::string> values;
};

struct ScanPage {
  std::vector<ScanEntry> entries;  // in token order; may be empty before the end
  std::string after;               // the cursor of the next page; empty: this was the last
};

class Store {
 public:
  virtual ~Store() = default;

  Result<PutReceipt> put(std::string_view key, std::string_view value, const PutOptions& options = {});
  Result<GetResult> get(std::string_view key, const GetOptions& options = {});
  Result<PutReceipt> remove(std::string_view key, const PutOptions& options = {});
  Result<bool> exists(std::string_view key, const GetOptions& options = {});
  Result<ScanPage> scan(const ScanOptions& options = {});

  template <class T>
  using Callback = std::function<void(Result<T>)>;

  void put(std::string_view key, std::string_view value, const PutOptions& options,
           Callback<PutReceipt> done);
  void get(std::string_view key, const GetOptions& options, Callback<GetResult> done);
  void remove(std::string_view key, const PutOptions& options, Callback<PutReceipt> done);

 private:
  friend class Admin;
  // Hands one request over; the callback gets the reply or why there is none.
  virtual void submit(struct ClientRequest request, std::function<void(struct ClientReply)> done) = 0;
};

}  // namespace ringkv
