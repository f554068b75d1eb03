// The same calls to nodes in other processes.
//
//   auto client = ringkv::Client::connect({.nodes = {"127.0.0.1:7401"}});
//   auto value = (*client)->get("greeting");
//
// One client serves any number of threads over pipelined connections. It learns the ring and the members'
// addresses from the node that it reaches first, and sends each request to an owner of its key. What is safe
// to repeat it repeats within the deadline, elsewhere when a node is gone; a write whose outcome is unknown
// it repeats only with its operation id.
//
// Writes of one key by one client follow each other, in order of their calls, and each knows the ones before
// it: a put without a context replaces what this client has written or read of the key, through whichever
// node it goes. That is remembered for the 65,536 keys used last, at most 16 MiB of contexts; a blind put of
// another key may leave a sibling of the client's own earlier write, if its node hasn't heard of that one.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/status.h"
#include "ringkv/store.h"

namespace ringkv {

struct ClientOptions {
  std::vector<std::string> nodes = {"127.0.0.1:7401"};  // HOST:PORT; the first that answers serves
  std::chrono::milliseconds connect_timeout{1000};      // for each of them
  uint32_t requests_max =
      10'000;                // under way at once, behind another write of their key too; more: OVERLOADED
  uint32_t connections = 1;  // to each node; requests go round them in turn
  // False: asks only the given nodes, one at a time, and lets them forward: where no others can be reached
  // from here, or to see the cluster through one node's eyes.
  bool route = true;
};

class Client : public Store {
 public:
  // UNAVAILABLE when no node answers, naming them.
  static Result<std::unique_ptr<Client>> connect(const ClientOptions& options);

  // The given node that serves now what isn't about one key, as HOST:PORT.
  virtual std::string node() const = 0;

  // The names of the members that own a key, in preference order, by the ring that this client knows now;
  // empty: it knows none.
  virtual std::vector<std::string> owners_of(std::string_view key, std::string_view bucket = "") const = 0;
};

}  // namespace ringkv
