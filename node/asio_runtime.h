// The real loop: one thread that runs everything of a node or of a client, a thread for commits, a few for
// reads, and TCP. On Boost.Asio, which no header shows.
//
// A turn of the loop: wait for something, run all that is ready (bounded), on_turn_end(), then one write for
// each connection with output. What many requests of one turn produce leaves together.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/loop.h"
#include "base/time.h"
#include "base/transport.h"
#include "ringkv/status.h"

namespace ringkv {

// Its threads block all signals: a program's handlers run on its own threads.
class AsioRuntime final : public Clock, public Executor {
 public:
  // `read_workers` threads for Lane::kRead; 0 for a runtime that reads nothing.
  explicit AsioRuntime(std::string thread_name, unsigned read_workers = 2);
  ~AsioRuntime() override;  // stops
  AsioRuntime(const AsioRuntime&) = delete;
  AsioRuntime& operator=(const AsioRuntime&) = delete;

  // Before start. Must outlive stop().
  void set_transport_handler(TransportHandler& handler);

  // Once. The handler must outlive stop().
  void start(LoopHandler& handler);

  // Runs what was posted and what was handed to the lanes before this call, continuations too, then lets
  // closed connections send their rest, ends the loop and joins all threads. Later posts are dropped;
  // connections end without on_closed. Idempotent; not from the loop.
  void stop();

  // From any thread; runs on the loop, in order. Many posts of one moment wake the loop once.
  void post(std::function<void()> task);

  // For use on the loop only, or before start.
  Transport& transport();

  // Before start or on the loop. The address with its real port. INVALID_ARGUMENT: not HOST:PORT;
  // UNAVAILABLE: in use, or not of this machine, naming it.
  Result<Address> listen(const Address& address, Door door);
  void stop_listening();  // all doors; connections stay

  Time now() const override;
  WallMicros wall_now() const override;

  void run(Lane lane, std::function<void()> work, std::function<void()> then) override;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ringkv
