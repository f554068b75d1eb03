// The least that one of three nodes must do for a put that two logs hold, or for a get that two nodes agree
// on.
//
// No ring, versions, Protobuf, digests of ranges, hints, repair or faults. One thread; what one turn of its
// loop has read is one batch for RocksDB and one write per connection. A put goes to the other two and is
// answered when two of the three have it; a get is answered when one other node has sent a hash of its value
// (which isn't compared: what comes of a difference isn't part of the least).
#pragma once

#include <rocksdb/write_batch.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/bench/bare/bare_frame.h"
#include "tests/bench/bare/bare_store.h"

namespace ringkv::bare {

inline constexpr uint32_t kNodes = 3;

struct BareNodeSettings {
  uint32_t number = 0;                 // of this node: 0, 1, 2
  std::array<uint16_t, kNodes> ports;  // of all, on 127.0.0.1
  std::string directory;
  bool synced = false;  // each batch, on the loop
};

class BareNode {
 public:
  explicit BareNode(const BareNodeSettings& settings);

  // Until the process is killed.
  [[noreturn]] void run();

 private:
  struct Connection {
    int descriptor = -1;
    std::string in;
    std::string out;
    bool has_more = false;  // this turn
    bool waits_to_write = false;
  };
  // A client's request under way.
  struct Request {
    Connection* client = nullptr;
    uint64_t id = 0;
    uint32_t copies = 0;  // that are known
    FrameType answer = FrameType::kAck;
    std::string value;
  };

  void listen();
  void accept();
  Connection* dial(uint16_t port);
  Connection* add(int descriptor);
  void close(Connection& connection);

  // False: closed by the other end.
  bool read(Connection& connection);
  void on_frame(Connection& from, const Frame& frame);
  void on_put(Connection& client, const Frame& frame);
  void on_replica_put(Connection& peer, const Frame& frame);
  void on_get(Connection& client, const Frame& frame);
  void on_replica_get(Connection& peer, const Frame& frame);
  void on_copy(uint64_t request);

  void read_value(std::string_view key);
  void commit();
  void send(Connection& to, const Frame& frame);
  void flush(Connection& connection);

  const BareNodeSettings settings_;
  const std::unique_ptr<rocksdb::DB> store_;
  const int epoll_;
  int listener_ = -1;
  std::array<Connection*, kNodes> peers_{};  // without this node itself
  std::vector<std::unique_ptr<Connection>> connections_;

  uint64_t last_request_ = 0;
  std::unordered_map<uint64_t, Request> requests_;
  std::string value_;

  // Of this turn.
  rocksdb::WriteBatch batch_;
  std::vector<std::pair<Connection*, uint64_t>> acks_after_;  // of replica puts in the batch
  std::vector<uint64_t> own_after_;                           // own requests in it
  std::vector<Connection*> to_flush_;
};

}  // namespace ringkv::bare
