// Redis' own: RESP, answers in the order of the requests.
#pragma once

#include <deque>

#include "tools/kvbench/compare/protocol.h"

namespace ringkv::tools {

class RedisProtocol final : public Protocol {
 public:
  void put(uint32_t slot, std::string_view key, std::string_view value, std::string& out) override;
  void get(uint32_t slot, std::string_view key, std::string& out) override;
  bool receive(std::string& in, std::string& out, std::vector<Ended>& ended) override;

 private:
  std::deque<uint32_t> slots_;  // under way
};

}  // namespace ringkv::tools
