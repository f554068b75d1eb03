// A full peer inside this process.
//
//   auto db = ringkv::Db::open({.data_directory = "data", .bootstrap = true, .replicas = 1});
//   if (!db.ok()) …
//   (void)(*db)->put("greeting", "hello");
//
// It has threads of its own and installs no signal handlers, changes no locale, never exits and writes to no
// stream.
#pragma once

#include <memory>
#include <string>

#include "ringkv/options.h"
#include "ringkv/status.h"
#include "ringkv/store.h"

namespace ringkv {

class Db : public Store {
 public:
  // Waits until it serves. Wrong options: INVALID_ARGUMENT; a directory in use: FORBIDDEN; and so on, naming
  // what to do.
  static Result<std::unique_ptr<Db>> open(const Options& options);

  virtual const std::string& name() const = 0;
  virtual std::string peer_address() const = 0;  // as advertised, with the real port; empty without that door
  virtual std::string client_address() const = 0;  // the same
  virtual uint64_t epoch() const = 0;

  // Finishes what was accepted, refuses what comes, flushes and closes. Not OK: something was not flushed;
  // what was acknowledged as synced is on disk all the same. The destructor does the same.
  virtual Status close() = 0;
};

}  // namespace ringkv
