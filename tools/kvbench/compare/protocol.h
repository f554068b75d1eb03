// What another system's requests and answers look like on one connection.
//
// Each request has a slot; of those under way no two have the same one. Input is never trusted to be whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringkv::tools {

class Protocol {
 public:
  struct Ended {
    uint32_t slot = 0;
    bool ok = true;
    bool found = true;
  };

  virtual ~Protocol() = default;

  // What a connection begins with.
  virtual void open(std::string& /*out*/) {}
  virtual std::string key_of(uint64_t number) const { return "bench:" + std::to_string(number); }
  virtual void put(uint32_t slot, std::string_view key, std::string_view value, std::string& out) = 0;
  virtual void get(uint32_t slot, std::string_view key, std::string& out) = 0;

  // Takes what is whole from the front of `in`. False: this is no such protocol.
  virtual bool receive(std::string& in, std::string& out, std::vector<Ended>& ended) = 0;
};

}  // namespace ringkv::tools
