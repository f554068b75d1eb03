// The same calls to nodes in other processes.
//
//   auto client = ringkv::Client::connect({.nodes = {"127.0.0.1:7401"}});
//   auto value = (*client)->get("greeting");
//
// One client serves any number of threads over pipelined connections. What is safe to repeat it repeats
// within the deadline; a write whose outcome is unknown it repeats only with its operation id.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "ringkv/status.h"
#include "ringkv/store.h"

namespace ringkv {

struct ClientOptions {
  std::vector<std::string> nodes = {"127.0.0.1:7401"};  // HOST:PORT; the first that answers serves
  std::chrono::milliseconds connect_timeout{1000};      // for each of them
  uint32_t requests_max = 10'000;                       // under way at once; more: OVERLOADED
  uint32_t connections = 1;                             // to that node; requests go round them in turn
  bool route = true;                                    // false: asks these nodes alone
};

class Client : public Store {
 public:
  // UNAVAILABLE when no node answers, naming them.
  static Result<std::unique_ptr<Client>> connect(const ClientOptions& options);

  // The node that serves now, as HOST:PORT.
  virtual std::string node() const = 0;
};

}  // namespace ringkv
