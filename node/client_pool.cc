#include "node/client_pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace ringkv {
namespace {

// After a question for the ring that brought nothing new, however many answers carry newer epochs.
constexpr Duration kFetchPauseMin = std::chrono::milliseconds(50);
constexpr Duration kFetchAgainAfter = std::chrono::seconds(1);
// While the address of a member isn't known or doesn't answer: members move without a new epoch.
constexpr Duration kRefreshPauseFirst = std::chrono::seconds(1);
constexpr Duration kRefreshPauseMax = std::chrono::seconds(60);
// A loop that was held up longer than this says nothing about the quiet of others.
constexpr Duration kHeldUp = std::chrono::milliseconds(200);

}  // namespace

ClientPool::ClientPool(const ClientOptions& options, Transport& transport, Clock& clock, Random& random)
    : ground_{options, transport, random},
      clock_(clock),
      router_(ground_),
      requests_(ground_, router_, clock, codec_),
      refresh_pause_(kRefreshPauseFirst),
      last_tick_(clock.now()) {}

void ClientPool::connect(std::function<void(const Status&)> done) {
  on_connected_ = std::move(done);
  router_.home().want(clock_.now());
}

void ClientPool::tell_connected() {
  if (!on_connected_) return;
  const ClientHome& home = router_.home();
  if (home.round_failed()) {
    std::exchange(on_connected_, nullptr)(unavailable(cat("no node answers: ", home.failures())));
  } else if (home.serving() && (fetched_ || !ground_.options.route)) {
    std::exchange(on_connected_, nullptr)({});
  }
}

// ---- connections

ClientLink* ClientPool::link_of(ConnectionId connection) const {
  const auto found = ground_.links.find(connection);
  return found == ground_.links.end() ? nullptr : found->second;
}

void ClientPool::on_connected(ConnectionId connection) {
  if (ClientLink* link = link_of(connection)) link->greet(codec_);
}

size_t ClientPool::on_bytes(ConnectionId connection, std::string_view available) {
  ClientLink* const link = link_of(connection);
  if (link == nullptr) return available.size();
  link->on_heard(clock_.now());
  size_t used = 0;
  while (link_of(connection) == link) {
    const auto frame = read_frame(available.substr(used), kFrameBytesMax);
    Status wrong = frame.status();
    if (frame.ok()) {
      if (!frame->has_value()) break;
      used += (*frame)->bytes;
      wrong = take_frame(*link, **frame);
    }
    if (wrong.ok() || link_of(connection) != link) continue;
    const bool served = link->serving();
    link->close();
    if (served) {
      on_lost(*link, false, cat(link->node().address(), " sent ", wrong.message()));
    } else {
      on_failed(*link, cat("it doesn't speak ringkv's protocol: it sent ", wrong.message()));
    }
  }
  requests_.send_waiting(*link);
  return link_of(connection) == link ? used : available.size();
}

// Not OK: the connection can't be used any more.
Status ClientPool::take_frame(ClientLink& link, const Frame& frame) {
  if (link.serving()) {
    const Status status = requests_.on_frame(link, frame);
    const bool newer = routes() && frame.epoch > routes()->epoch();
    if (requests_.await_routes() || newer) want_routes(link);
    return status;
  }
  const Result<Welcome> welcome = codec_.decode_welcome(frame);
  const Status wrong = welcome.ok() ? link.node().welcome(link, *welcome) : welcome.status();
  if (wrong.ok()) {
    on_served(link);
  } else {
    link.close();
    on_failed(link, wrong.to_string());
  }
  return {};
}

void ClientPool::on_served(ClientLink& link) {
  router_.on_served(link);
  if (!routes()) want_routes(link);
  tell_connected();
  requests_.send_waiting(link);
}

void ClientPool::on_closed(ConnectionId connection, const Status& why) {
  ClientLink* const link = link_of(connection);
  if (link == nullptr) return;
  const bool served = link->serving();
  link->end();
  if (served) {
    on_lost(*link, false,
            cat("the connection to ", link->node().address(), " was lost (", why.message(), ")"));
  } else {
    on_failed(*link, why.message());
  }
}

void ClientPool::on_failed(ClientLink& link, const std::string& why) {
  router_.on_failed(link, why, clock_.now());
  if (routes()) fetch_later(refresh_pause_);
  requests_.on_failed(link);
  tell_connected();
  requests_.send_waiting();
}

void ClientPool::on_lost(ClientLink& link, bool silent, const std::string& why) {
  router_.on_lost(link, silent, clock_.now());
  requests_.on_lost(link, why);
  requests_.send_waiting();
}

// ---- time

void ClientPool::on_tick(Time now) {
  watch(now);
  router_.on_tick(now);
  if (now >= fetch_at_ && router_.any_serving()) fetch_routes(nullptr);
  requests_.on_tick(now);
}

void ClientPool::watch(Time now) {
  const bool held_up = now - std::exchange(last_tick_, now) > kHeldUp;
  for (ClientLink* link : router_.links()) {
    if (link->overdue(now)) {
      link->close();
      on_failed(*link, cat("no answer within ", ground_.options.connect_timeout.count(), " ms"));
      continue;
    }
    if (held_up) link->on_heard(now);
    const ClientLink::Quiet quiet = link->listen(now);
    if (quiet == ClientLink::Quiet::kNo) continue;
    if (quiet != ClientLink::Quiet::kGone) {
      requests_.on_quiet(*link, quiet);
      continue;
    }
    link->close();
    on_lost(*link, true, cat(link->node().address(), " has gone silent"));
  }
}

// ---- routes

// `link` knows of something newer.
void ClientPool::want_routes(ClientLink& link) {
  if (!ground_.options.route || fetching_) return;
  const Time now = clock_.now();
  if (now >= fetch_not_before_) return fetch_routes(&link);
  fetch_later(fetch_not_before_ - now);
}

void ClientPool::fetch_later(Duration pause) { fetch_at_ = std::min(fetch_at_, clock_.now() + pause); }

void ClientPool::fetch_routes(ClientLink* link) {
  if (fetching_) return;
  fetching_ = true;
  fetch_at_ = Time::max();
  requests_.ask(link, ClientRouting{}, ground_.options.connect_timeout,
                [this](const ClientReply& reply) { on_routes(reply); });
}

void ClientPool::on_routes(const ClientReply& reply) {
  fetching_ = false;
  fetched_ = true;
  const uint64_t before = routes() ? routes()->epoch() : 0;
  if (const auto* table = std::get_if<RoutingTable>(&reply.body)) {
    const auto fetched = ClientRoutes::from(*table, routes().get());
    if (fetched.ok() && (*fetched)->ring().description().cluster == ground_.cluster) router_.adopt(*fetched);
  }
  const bool changed = routes() && routes()->epoch() != before;
  if (!changed) fetch_not_before_ = clock_.now() + kFetchPauseMin;
  refresh_pause_ = changed ? kRefreshPauseFirst : std::min(refresh_pause_ * 2, kRefreshPauseMax);
  if (!routes()) {
    fetch_later(kFetchAgainAfter);
  } else if (!routes()->complete()) {
    fetch_later(refresh_pause_);
  }
  requests_.on_routes();
  tell_connected();
}

}  // namespace ringkv
