// A transport and a clock that a test moves by hand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/transport.h"

namespace ringkv {

class FakeClock final : public Clock {
 public:
  Time now() const override { return now_; }
  WallMicros wall_now() const override { return 0; }
  void advance(Duration by) { now_ += by; }

 private:
  Time now_{std::chrono::hours(1)};
};

class FakeTransport final : public Transport {
 public:
  ConnectionId connect(const Address& to) override {
    dialed.push_back(to);
    open[++last] = {};
    return last;
  }
  std::string& output(ConnectionId connection) override {
    const auto found = open.find(connection);
    return found == open.end() ? nowhere : found->second;
  }
  size_t unsent_bytes(ConnectionId connection) const override {
    return open.contains(connection) ? unsent : 0;
  }
  void close(ConnectionId connection) override {
    open.erase(connection);
    closed.push_back(connection);
  }

  std::vector<Address> dialed;
  std::map<ConnectionId, std::string> open;  // with what was sent and not yet taken by the test
  std::vector<ConnectionId> closed;
  ConnectionId last = 0;
  size_t unsent = 0;  // of every connection

 private:
  std::string nowhere;
};

}  // namespace ringkv
