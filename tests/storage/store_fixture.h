// A record store on a simulated disk that can be killed, cut off from power and opened again.
#pragma once

#include <memory>
#include <string>

#include "storage/memory_engine.h"
#include "storage/record_store.h"
#include "storage/recovery.h"

namespace ringkv {

inline constexpr uint32_t kTestPartitions = 16;

class StoreFixture {
 public:
  explicit StoreFixture(NodeId node = NodeId{1}) : node_(node) { open(); }

  // Another life on the same disk.
  void open() {
    store.reset();
    engine = std::make_unique<MemoryEngine>(disk);
    Result<RecoveredStore> recovered =
        recover_store(*engine, kTestPartitions, {node_, Boot{node_.value * 1000 + ++boots}});
    store = std::make_unique<RecordStore>(
        *engine, std::move(*recovered),
        RecordStore::Settings{.secret = std::string(32, 's'), .cache_bytes = 1 << 16});
  }
  void close() {
    store.reset();
    engine.reset();
  }
  void kill() {
    close();
    open();
  }

  static Place place(std::string_view key) { return place_of({.partitions = kTestPartitions}, "", key); }

  // As another node of the cluster sends it.
  static std::shared_ptr<const std::string> encoded(std::string_view key, const Record& record) {
    const RecordHasher hasher(std::string(32, 's'));
    auto bytes = std::make_shared<std::string>();
    encode_record(record, hasher.hash(place(key).digest, record), content_bytes(key, record), *bytes);
    return bytes;
  }

  // Stages a version that replaces all that is there; the way of a blind put.
  Dot put(const std::string& key, const std::string& value, VersionKind kind = VersionKind::kValue) {
    const Place where = place(key);
    const RecordHead head = **store->newest_head(where);
    Stamp stamp;
    stamp.version = {.dot = store->next_dot(),
                     .kind = kind,
                     .time = next_time(1, head.context, nullptr, {}),
                     .value = value};
    const Dot dot = stamp.version.dot;
    Record current{head.context, {}};
    store->restore(current.context);
    store->stage(where, store->encoded(where, key, stamped(current, stamp, Conflict::kSiblings)), head);
    return dot;
  }

  Status commit(bool sync = true) {
    if (sync) store->require_sync();
    const Commit commit = store->take();
    Status status = engine->write(*commit.batch, commit.sync);
    if (status.ok()) store->committed(commit);
    return status;
  }

  // What is committed under the key.
  Record read(const std::string& key) {
    std::string bytes;
    const Result<Lookup> found = engine->get(Family::kData, place(key).storage_key, bytes);
    if (!found.ok() || *found == Lookup::kAbsent) return {};
    return *decode_record(bytes);
  }

  MemoryDisk disk;
  std::unique_ptr<MemoryEngine> engine;
  std::unique_ptr<RecordStore> store;
  uint64_t boots = 0;

 private:
  const NodeId node_;
};

}  // namespace ringkv
