// A node: opens its store, lives, and after a failure of the disk lives again as another boot. Joins doors
// and cores to the environment; the same on Asio and RocksDB as on a simulated clock, network and disk. It
// routes and never decides.
//
// All calls on the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/client_message.h"
#include "base/loop.h"
#include "node/client_door.h"
#include "node/environment.h"
#include "node/life.h"
#include "node/store_opener.h"
#include "storage/data_directory.h"

namespace ringkv {

class Node final : public LoopHandler {
 public:
  struct Settings {
    Identity identity;
    Founding founding;
    Life::Settings life;
    uint64_t disk_reserve_bytes = 0;  // 0: 5 % of the disk, at least the write buffers, at most 1 GiB
    uint64_t write_buffer_bytes = 0;
  };

  Node(Environment environment, Settings settings);

  // Opens the store; `ready` is called once: it serves, or why it can't.
  void start(std::function<void(Status)> ready);

  // Takes no more requests, finishes what was accepted (for at most `patience`), then calls `done`: nothing
  // runs off the loop any more and all that was acknowledged is on disk.
  void stop(Duration patience, std::function<void(Status)> done);

  // A request of this process.
  void call(ClientRequest request, std::function<void(ClientReply)> done) {
    door_.call(std::move(request), std::move(done));
  }

  TransportHandler& transport_handler() { return door_; }

  void on_tick(Time now) override;
  void on_turn_end() override;

  bool serving() const { return life_ != nullptr && !failing_; }
  uint64_t epoch() const { return life_ == nullptr ? 0 : life_->ring().epoch(); }
  const Life* life() const { return life_.get(); }

 private:
  void open();
  void on_opened(Result<OpenedStore> opened);
  void on_failed(const Status& why);
  void reopen_when_quiet(Time now);
  void check_disk();
  void on_disk_checked(uint64_t free_bytes, uint64_t size_bytes);
  void finish_stopping(Time now);
  void end_stopping(Status status);

  void on_request(Requester requester, ClientRequest request);
  template <class Request>
  void route(const Requester& requester, Request request, Duration timeout);
  void serve(const Requester& requester, const ClientStatus& request);
  void serve(const Requester& requester, const ClientRing& request);
  void serve(const Requester& requester, const ClientStatistics& request);
  void serve(const Requester& requester, const ClientBuckets& request);
  void serve(const Requester& requester, const ClientCreateBucket& request);
  void serve(const Requester& requester, const ClientChangeBucket& request);
  void change_ring(const Requester& requester, Result<RingDescription> next);
  void answer(const Requester& requester, Status status, ClientReply::Body body = {});
  Result<Welcome> welcome() const;
  std::string why_not_serving() const;

  Environment environment_;
  const Settings settings_;
  ClientDoor door_;

  std::unique_ptr<Life> life_;  // nullptr: opening
  bool failing_ = false;        // the life has failed and waits to be replaced
  std::string failure_;         // why the store is being reopened
  std::function<void(Status)> ready_;
  Boot next_boot_;
  Time reopen_at_{};
  bool opening_ = false;

  struct Stopping {
    enum class Step : uint8_t { kFinishing, kFlushing, kEnded };

    Time until;
    std::function<void(Status)> done;
    Step step = Step::kFinishing;  // what was accepted; then what was written
  };
  std::optional<Stopping> stopping_;

  Time door_checked_at_{};
  Time disk_checked_at_{};
  bool disk_check_under_way_ = false;
  uint64_t disk_free_bytes_ = 0;
  uint64_t fences_ = 0;
  std::string log_damage_;

  // Continuations of work off the loop look here whether their node is still there.
  const std::shared_ptr<bool> alive_;

 public:
  ~Node() override;
};

}  // namespace ringkv
