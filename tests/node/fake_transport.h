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
    const auto found = open.extract(connection);
    if (!found.empty()) last_words[connection] = found.mapped();
    closed.push_back(connection);
  }

  // What the test hasn't taken yet, also of a connection that was closed behind it.
  std::string sent(ConnectionId connection) const {
    const auto at = open.find(connection);
    if (at != open.end()) return at->second;
    const auto words = last_words.find(connection);
    return words == last_words.end() ? std::string() : words->second;
  }

  std::vector<Address> dialed;
  std::map<ConnectionId, std::string> open;  // with what was sent and not yet taken by the test
  std::vector<ConnectionId> closed;
  std::map<ConnectionId, std::string> last_words;  // of those that were closed
  ConnectionId last = 0;
  size_t unsent = 0;  // of every connection

 private:
  std::string nowhere;
};

}  // namespace ringkv
