#include "ringkv/client.h"

#include <future>
#include <mutex>
#include <utility>

#include "base/address.h"
#include "node/asio_runtime.h"
#include "node/client_pool.h"
#include "node/client_routes.h"
#include "node/system_random.h"

namespace ringkv {
namespace {

class AsioClient final : public Client, private LoopHandler {
 public:
  explicit AsioClient(const ClientOptions& options)
      : runtime_("ringkv-client", 0), pool_(options, runtime_.transport(), runtime_, random_) {
    runtime_.set_transport_handler(pool_);
    runtime_.start(*this);
  }

  ~AsioClient() override {
    runtime_.post([this] { pool_.shut_down(); });
    runtime_.stop();
  }

  Status wait_until_served() {
    std::promise<Status> served;
    runtime_.post([&] {
      pool_.connect([&](const Status& status) {
        show();
        served.set_value(status);
      });
    });
    return served.get_future().get();
  }

  std::string node() const override {
    const std::lock_guard lock(mutex_);
    return shown_node_;
  }

  std::vector<std::string> owners_of(std::string_view key, std::string_view bucket) const override {
    const std::shared_ptr<const ClientRoutes> routes = shown_routes();
    return routes ? routes->names_of_owners(bucket, key) : std::vector<std::string>();
  }

 private:
  void submit(ClientRequest request, std::function<void(ClientReply)> done) override {
    runtime_.post([this, request = std::move(request), done = std::move(done)]() mutable {
      pool_.submit(std::move(request), std::move(done));
    });
  }

  void on_tick(Time now) override { pool_.on_tick(now); }
  void on_turn_end() override {
    if (pool_.node() != shown_node_ || pool_.routes() != shown_routes_) show();
  }

  void show() {
    const std::lock_guard lock(mutex_);
    shown_node_ = pool_.node();
    shown_routes_ = pool_.routes();
  }

  std::shared_ptr<const ClientRoutes> shown_routes() const {
    const std::lock_guard lock(mutex_);
    return shown_routes_;
  }

  SystemRandom random_;
  AsioRuntime runtime_;
  ClientPool pool_;
  mutable std::mutex mutex_;
  // Written by the loop under the mutex, read by others under it.
  std::string shown_node_;
  std::shared_ptr<const ClientRoutes> shown_routes_;
};

}  // namespace

Result<std::unique_ptr<Client>> Client::connect(const ClientOptions& options) {
  if (options.nodes.empty()) return invalid_argument("no node was given to connect to");
  for (const std::string& node : options.nodes) {
    const Result<HostPort> address = host_port_from(node);
    if (!address.ok()) return address.status();
  }
  auto client = std::make_unique<AsioClient>(options);
  const Status served = client->wait_until_served();
  if (!served.ok()) return served;
  return std::unique_ptr<Client>(std::move(client));
}

}  // namespace ringkv
