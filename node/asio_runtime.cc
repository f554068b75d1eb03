#include "node/asio_runtime.h"

#include <pthread.h>
#include <signal.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "node/asio_transport.h"

namespace ringkv {
namespace {

namespace asio = boost::asio;
using Task = std::function<void()>;

constexpr std::chrono::milliseconds kTickEvery{10};
// A turn ends after so many events even when more are ready: peers that never pause must not keep answers
// back.
constexpr int kEventsATurn = 512;

// Starts a thread that no signal of the process is delivered to.
std::thread start_thread(const std::string& name, Task body) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  constexpr size_t kNameBytesMax = 15;  // Linux
  ::pthread_setname_np(thread.native_handle(), name.substr(0, kNameBytesMax).c_str());
  return thread;
}

// Threads with one queue.
class LaneThreads {
 public:
  void start(const std::string& name, unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) {
      threads_.push_back(start_thread(name, [this] { work(); }));
    }
  }

  void push(Task task) {
    CHECK(!threads_.empty());
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    ready_.notify_one();
  }

  // Ends after what is queued.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ready_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

struct AsioRuntime::Impl {
  Impl(std::string thread_name, unsigned workers)
      : name(std::move(thread_name)),
        read_workers(workers),
        // Only the loop touches sockets; others do nothing but post.
        context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
        keep_running(asio::make_work_guard(context)),
        tick_timer(context),
        transport(context) {}

  void start(LoopHandler& loop_handler) {
    CHECK(!loop.joinable() && !stopped);
    handler = &loop_handler;
    transport.on_tick(now());  // it must know the time before the first connection ends
    lanes[static_cast<size_t>(Lane::kCommit)].start(name + "-commit", 1);
    lanes[static_cast<size_t>(Lane::kRead)].start(name + "-read", read_workers);
    loop = start_thread(name, [this] { turn_until_finished(); });
  }

  void turn_until_finished() {
    tick();
    while (!stopping || unfinished_before_stop > 0 || transport.is_ending()) {
      context.run_one();
      for (int i = 1; i < kEventsATurn && context.poll_one() > 0; ++i) {
      }
      handler->on_turn_end();
      transport.flush();
    }
  }

  void tick() {
    tick_timer.expires_after(kTickEvery);
    tick_timer.async_wait([this](const boost::system::error_code&) {
      const Time time = now();
      transport.on_tick(time);
      handler->on_tick(time);
      tick();
    });
  }

  void post(Task task) {
    bool first = false;
    {
      const std::lock_guard lock(posted_mutex);
      first = posted.empty();
      posted.push_back(std::move(task));
    }
    if (first) asio::post(context, [this] { run_posted(); });
  }

  void run_posted() {
    {
      const std::lock_guard lock(posted_mutex);
      running.swap(posted);
    }
    for (Task& task : running) task();
    running.clear();
  }

  void run(Lane lane, Task work, Task then) {
    const bool awaited = !stopping;
    if (awaited) ++unfinished_before_stop;
    Task finish = [this, awaited, then = std::move(then)] {
      if (awaited) --unfinished_before_stop;
      then();
    };
    lanes[static_cast<size_t>(lane)].push(
        [this, work = std::move(work), finish = std::move(finish)]() mutable {
          work();
          work = nullptr;
          post(std::move(finish));
        });
  }

  void stop() {
    CHECK(std::this_thread::get_id() != loop.get_id());
    if (!std::exchange(stopped, true) && loop.joinable()) {
      post([this] { stopping = true; });
      loop.join();
    }
    for (LaneThreads& lane : lanes) lane.stop();
  }

  static Time now() {
    return Time(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
  }

  const std::string name;
  const unsigned read_workers;
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> keep_running;
  asio::steady_timer tick_timer;
  AsioTransport transport;
  LoopHandler* handler = nullptr;

  std::mutex posted_mutex;
  std::vector<Task> posted;   // under the mutex
  std::vector<Task> running;  // of the loop

  bool stopping = false;  // of the loop
  size_t unfinished_before_stop = 0;
  std::array<LaneThreads, 2> lanes;
  std::thread loop;
  bool stopped = false;  // of whoever owns the runtime
};

AsioRuntime::AsioRuntime(std::string thread_name, unsigned read_workers)
    : impl_(std::make_unique<Impl>(std::move(thread_name), read_workers)) {}
AsioRuntime::~AsioRuntime() { stop(); }

void AsioRuntime::set_transport_handler(TransportHandler& handler) { impl_->transport.set_handler(handler); }
void AsioRuntime::start(LoopHandler& handler) { impl_->start(handler); }
void AsioRuntime::stop() { impl_->stop(); }
void AsioRuntime::post(std::function<void()> task) { impl_->post(std::move(task)); }
Transport& AsioRuntime::transport() { return impl_->transport; }

Result<Address> AsioRuntime::listen(const Address& address, Door door) {
  return impl_->transport.listen(address, door);
}
void AsioRuntime::stop_listening() { impl_->transport.stop_listening(); }

Time AsioRuntime::now() const { return Impl::now(); }

WallMicros AsioRuntime::wall_now() const {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<WallMicros>(std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
}

void AsioRuntime::run(Lane lane, std::function<void()> work, std::function<void()> then) {
  impl_->run(lane, std::move(work), std::move(then));
}

}  // namespace ringkv
