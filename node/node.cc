#include "node/node.h"

#include <algorithm>
#include <utility>

#include "base/plants.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr Duration kReopenPause = std::chrono::seconds(1);
// Each such try reads all table files.
constexpr Duration kReopenDamagedPause = std::chrono::minutes(1);
// What RocksDB's checksums don't see, a record of ours that doesn't decode, no setting aside mends.
constexpr Duration kUndamagedHolds = std::chrono::hours(1);
constexpr Duration kDiskCheckPause = std::chrono::milliseconds(100);
constexpr Duration kDoorCheckPause = std::chrono::seconds(1);
constexpr uint64_t kDiskReserveBytesMax = uint64_t{1} << 30;
constexpr uint64_t kDiskReserveShare = 20;  // a twentieth of the disk

// What is in the write buffers must still find room in table files, and on a small disk it is more than 5 %.
uint64_t disk_reserve_of(const Node::Settings& settings, uint64_t size_bytes) {
  if (settings.disk_reserve_bytes != 0) return settings.disk_reserve_bytes;
  const uint64_t share = std::max(size_bytes / kDiskReserveShare, settings.write_buffer_bytes);
  return std::min({kDiskReserveBytesMax, share, size_bytes / 2});
}

Boot draw_boot(Random& random, const Identity& identity) {
  return Boot{planted(Plant::kReuseActor) ? identity.node.value : random.next()};
}

}  // namespace

Node::Node(Environment environment, Settings settings)
    : clock_(environment.clock),
      environment_{clock_,
                   environment.transport,
                   environment.executor,
                   environment.random,
                   environment.log,
                   std::move(environment.open_engine)},
      settings_(std::move(settings)),
      identity_(settings_.identity),
      door_(
          environment_.transport, environment_.clock, environment_.log, [this] { return welcome(); },
          [this](Requester requester, ClientRequest request) { on_request(requester, std::move(request)); }),
      peer_door_(environment_.transport, environment_.clock, environment_.log, faults_, *this),
      links_(environment_.transport, environment_.clock, environment_.random, environment_.log, faults_,
             link_callbacks()),
      router_(door_, peer_door_, links_),
      alive_(std::make_shared<bool>(true)) {}

Node::~Node() { *alive_ = false; }

void Node::set_addresses(Address peer_address, Address client_address) {
  settings_.peer_address = std::move(peer_address);
  settings_.client_address = std::move(client_address);
}

void Node::start(std::function<void(Status)> ready) {
  ready_ = std::move(ready);
  next_boot_ = draw_boot(environment_.random, identity_);
  if (identity_.cluster) return open();
  join();
}

void Node::join() {
  environment_.log.info("node", cat(identity_.name, " joins"));
  joiner_ = std::make_unique<Joiner>(links_, environment_.log,
                                     Joiner::Settings{.request = {.protocol = kProtocolVersion,
                                                                  .format = kFormatVersion,
                                                                  .node = identity_.node,
                                                                  .disk = identity_.disk,
                                                                  .boot = next_boot_,
                                                                  .name = identity_.name,
                                                                  .rack = settings_.founding.rack,
                                                                  .weight = settings_.founding.weight,
                                                                  .peer_address = settings_.peer_address,
                                                                  .client_address = settings_.client_address,
                                                                  .replicas = settings_.replicas_expected,
                                                                  .partitions = settings_.partitions_expected,
                                                                  .placer = settings_.placer_expected,
                                                                  .plan_only = settings_.plan_only},
                                                      .seeds = settings_.join,
                                                      .patience = settings_.join_timeout},
                                     [this](JoinAnswer answer) { on_joined(std::move(answer)); });
  joiner_->start(environment_.clock.now());
}

void Node::on_joined(JoinAnswer answer) {
  if (!answer.status.ok()) return fail_start(std::move(answer.status));
  const Result<RingDescription> ring = decode_ring_description(answer.description);
  if (!ring.ok()) return fail_start(ring.status());
  const Member* self = ring->find_member(identity_.name);
  if (self == nullptr || self->disk != identity_.disk)
    return fail_start(corruption("the ring that came back from joining doesn't have this node"));
  identity_.cluster = ring->cluster;
  identity_.node = self->node;  // a member's whose place it takes, or its own
  settings_.founding.joined_ring = std::move(answer.description);
  joined_ = true;
  joined_peers_ = std::move(answer.peers);
  open();
}

void Node::open() {
  opening_ = true;
  if (life_ != nullptr) next_boot_ = draw_boot(environment_.random, identity_);
  auto opened = std::make_shared<std::optional<Result<OpenedStore>>>();
  // A failed life's engine must be closed before its files are opened again; both may wait for the disk.
  std::shared_ptr<Engine> old = life_ == nullptr ? nullptr : life_->release_engine();
  member_.reset();
  links_.close_all();  // what the life before has dialed: refusals of it are not the next one's
  life_.reset();
  greeted_ = false;
  failing_ = false;
  disk_check_under_way_ = false;  // its answer goes with its life
  environment_.executor.run(
      Lane::kCommit,
      [open_engine = environment_.open_engine, identity = identity_, founding = settings_.founding,
       old = std::move(old), boot = next_boot_, mode = open_mode_, opened]() mutable {
        old.reset();
        opened->emplace(open_store(open_engine, identity, boot, founding, mode));
      },
      [this, alive = alive_, opened] {
        if (*alive) on_opened(std::move(**opened));
      });
}

void Node::on_opened(Result<OpenedStore> opened) {
  opening_ = false;
  Status status = opened.status();
  if (status.ok()) log_losses(*opened);
  if (status.ok()) status = enter_cluster(*opened);
  if (status.ok()) return;
  if (ready_) return fail_start(std::move(status));
  environment_.log.error("node", cat("the store can't be opened yet: ", status.message()));
  failure_ = status.message();
  const bool damaged = status.code() == StatusCode::kCorruption;
  reopen_at_ = environment_.clock.now() + (damaged ? kReopenDamagedPause : kReopenPause);
}

void Node::log_losses(const OpenedStore& opened) {
  if (std::exchange(open_mode_, OpenMode::kPlain) == OpenMode::kSetDamagedAside && opened.lost.empty()) {
    found_undamaged_at_ = environment_.clock.now();
    environment_.log.warning("storage", "all table files were read and none is damaged");
  }
  damaged_files_ += opened.lost.size();
  for (const OpenedEngine::LostRange& range : opened.lost) {
    const char* what = range.family == Family::kHints     ? "hints for other nodes are lost with it"
                       : range.family == Family::kDigests ? "what it held is made anew"
                                                          : "the other owners' copies are fetched";
    environment_.log.error(
        "storage", cat("a table file was damaged (", range.why, ") and is now ", range.file, ": ", what,
                       ", from key ", display_key(range.first), " to ", display_key(range.last)));
  }
  if (opened.wholeness.incomplete() > 0 && !opened.lost.empty()) {
    environment_.log.warning(
        "storage", cat(opened.wholeness.incomplete(), " partitions aren't served for reads until rounds ",
                       "with their other owners have ended"));
  }
}

Status Node::enter_cluster(OpenedStore& opened) {
  if (settings_.keep_identity) {
    if (Status status = settings_.keep_identity(identity_); !status.ok()) return status;
    settings_.keep_identity = nullptr;
  }
  log_damage_ = opened.log_damage;
  if (!log_damage_.empty()) environment_.log.error("storage", cat("the log was damaged: ", log_damage_));
  const uint64_t free_bytes = opened.engine->disk_free_bytes();
  const uint64_t size_bytes = opened.engine->disk_size_bytes();
  if (settings_.peer_address.empty() && opened.ring.members.size() > 1) {
    return invalid_argument(cat(identity_.name, " has ", opened.ring.members.size() - 1,
                                " other members to talk to: --peer HOST:PORT says where"));
  }
  ClusterMember::Settings member{.self = {.protocol = kProtocolVersion,
                                          .format = kFormatVersion,
                                          .cluster = identity_.cluster,
                                          .node = identity_.node,
                                          .disk = identity_.disk,
                                          .boot = next_boot_,
                                          .generation = opened.generation,
                                          .name = identity_.name,
                                          .peer_address = settings_.peer_address,
                                          .client_address = settings_.client_address},
                                 .seeds = settings_.join,
                                 .peers = joined_peers_,
                                 .acceptor_record = std::move(opened.acceptor_record),
                                 .peers_record = std::move(opened.peers_record),
                                 .older_copy_record = std::move(opened.older_copy_record),
                                 .known_boots = opened.recovered.known_boots,
                                 .auto_remove_after = settings_.auto_remove_after};
  life_ = std::make_unique<Life>(
      environment_, identity_.node, settings_.life, std::move(opened),
      Life::Callbacks{
          .answer = [this](const Requester& to, const ClientReply& reply) { door_.answer(to, reply); },
          .send =
              [this](NodeId to, const PeerMessage& message) {
                if (ended_.ok()) member_->send(to, message);
              },
          .gossip =
              [this](GossipMessage message) {
                if (ended_.ok()) member_->on_gossip(identity_.node, std::move(message));
              },
          .serve = [this](const Requester& requester,
                          ClientRequest request) { on_handed_over(requester, std::move(request)); },
          .damaged = [this](const Status& why) { return on_damaged(why); },
          .failed = [this](const Status& why) { on_failed(why); }});
  Result<std::unique_ptr<ClusterMember>> entered = ClusterMember::make(
      environment_, std::move(member), *life_, links_,
      {.on_ring = [this] { on_ring(); },
       .on_boot = [this](NodeId node, Boot boot) { peer_door_.keep_only(node, boot); },
       .on_fenced = [this](const Status& why) { on_fenced(why); },
       .on_left = [this](const Status& why) { on_left(why); },
       .on_removed = [this](NodeId node, const Status& why) { peer_door_.refuse(node, why); }});
  if (!entered.ok()) {
    life_.reset();
    return entered.status();
  }
  member_ = *std::move(entered);
  on_disk_checked(free_bytes, size_bytes);
  member_->start([this](Status status) { on_greeted(std::move(status)); });
  return {};
}

// By the latest ring that those it has reached hold: a plan may have changed it while this node was away.
void Node::on_greeted(Status status) {
  if (status.ok() && ready_) {
    status = check_labels(settings_.labels, life_->ring().description(), identity_.node);
    if (!status.ok()) environment_.log.error("node", status.message());
  }
  if (!status.ok()) {
    if (ready_) return fail_start(std::move(status));
    return on_fenced(status);
  }
  greeted_ = true;
  environment_.log.info("node", cat("serves with boot ", hex(life_->boot().value), ", epoch ", epoch(), ", ",
                                    life_->store().leaves().keys(), " keys"));
  if (ready_) std::exchange(ready_, nullptr)({});
}

// A plan has changed them under a node that runs, and runs on; its next start would be refused.
void Node::warn_of_labels() {
  if (!greeted_) return;
  const Status status = check_labels(settings_.labels, life_->ring().description(), identity_.node);
  if (std::exchange(labels_warned_, status.message()) != status.message() && !status.ok())
    environment_.log.warning("node", cat("the next start would be refused: ", status.message()));
}

void Node::fail_start(Status status) {
  ended_ = status;
  joiner_.reset();
  member_.reset();
  std::exchange(ready_, nullptr)(std::move(status));
}

// A failed append or fsync: what is on disk is known only after a reopen, so nothing more is acknowledged
// until then. A compaction that met a damaged file fails writes too.
void Node::on_failed(const Status& why) {
  const Time now = environment_.clock.now();
  if (why.code() == StatusCode::kCorruption && may_hold_damage(now)) open_mode_ = OpenMode::kSetDamagedAside;
  failure_ = why.message();
  environment_.log.error("storage", cat("fenced after a failed write: ", why.message()));
  end_life(Status(why.code(), cat("the store failed: ", why.message())));
}

// True: this life ends, and the next one begins without the file. Else what can't be read is answered as
// such.
bool Node::on_damaged(const Status& why) {
  if (failing_ || stopping_ || !ended_.ok()) return failing_;
  if (!may_hold_damage(environment_.clock.now())) {
    if (std::exchange(damage_logged_, why.message()) != why.message()) {
      environment_.log.error("storage",
                             cat("can't be read, though no table file is damaged: ", why.message()));
    }
    return false;
  }
  open_mode_ = OpenMode::kSetDamagedAside;
  failure_ = why.message();
  environment_.log.error("storage", cat("reopened to set a damaged file aside: ", why.message()));
  end_life(unavailable(cat(identity_.name, " sets a damaged file aside: ask another node, or again soon")));
  return true;
}

bool Node::may_hold_damage(Time now) const {
  return !found_undamaged_at_ || now >= *found_undamaged_at_ + kUndamagedHolds;
}

void Node::end_life(const Status& reason) {
  ++fences_;
  failing_ = true;
  life_->fail_all(reason);
  member_->fail_all(unknown_outcome(reason.message()));
  // What was sent to this life and is still under way must not come to the next one as if it were new.
  door_.close_all();
  peer_door_.close_all();
  links_.close_all();
  reopen_at_ = environment_.clock.now();
}

// Nothing is acknowledged from here on. The ring that says so gets on the disk yet: a later start must know.
void Node::on_fenced(const Status& why) {
  if (!ended_.ok()) return;
  ended_ = why;
  environment_.log.error("node", why.message());
  member_->fail_all(why);
  life_->answer_all(why);
  peer_door_.close_all();
  links_.close_all();
}

void Node::on_left(const Status& why) {
  if (!ended_.ok()) return;
  on_fenced(why.ok() ? forbidden(cat(identity_.name, " has left its cluster; its data are with the others"))
                     : forbidden(cat("the joining of ", identity_.name, " was cancelled: ", why.message())));
  if (settings_.on_left) settings_.on_left(why.ok() ? Status() : ended_);
}

void Node::reopen_when_quiet(Time now) {
  if (opening_ || stopping_ || !ended_.ok() || now < reopen_at_ ||
      (life_ != nullptr && (!failing_ || life_->off_loop())))
    return;
  open();
}

void Node::on_tick(Time now) {
  // A ring that came while it introduced itself doesn't have it any more.
  if (ready_ && !ended_.ok()) return fail_start(Status(ended_));
  if (joiner_) joiner_->on_tick(now);
  if (joined_) joiner_.reset();
  if (life_ != nullptr && !failing_ && ended_.ok()) {
    life_->on_tick(now);
    member_->on_tick(now);
  }
  if (!first_puts_.empty()) refuse_first_puts(first_puts_.take_expired(now), "timed out");
  // Between two lives nobody introduces himself.
  if (joiner_ || (member_ != nullptr && !failing_ && ended_.ok())) links_.on_tick(now);
  if (!ready_ || failing_) reopen_when_quiet(now);
  if (now >= disk_checked_at_ + kDiskCheckPause) check_disk();
  if (now >= door_checked_at_ + kDoorCheckPause) {
    door_checked_at_ = now;
    door_.on_tick(now);
    peer_door_.on_tick(now);
  }
  finish_stopping(now);
}

void Node::on_turn_end() {
  if (life_ != nullptr && !failing_) life_->on_turn_end();
}

void Node::check_disk() {
  if (!serving() || stopping_ || disk_check_under_way_) return;
  disk_checked_at_ = environment_.clock.now();
  disk_check_under_way_ = true;
  life_->measure_disk([this](Life::DiskSpace space) {
    disk_check_under_way_ = false;
    if (serving()) on_disk_checked(space.free_bytes, space.size_bytes);
  });
}

void Node::on_disk_checked(uint64_t free_bytes, uint64_t size_bytes) {
  disk_free_bytes_ = free_bytes;
  const uint64_t reserve = disk_reserve_of(settings_, size_bytes);
  const bool refused = !life_->coordinator().puts_refused().empty();
  if (free_bytes < reserve) {
    life_->refuse_puts(cat("the disk of ", identity_.name, " has ", human_bytes(free_bytes),
                           " free, below its reserve of ", human_bytes(reserve),
                           ": free some space; deletes are taken, and puts again by themselves"));
    if (!refused)
      environment_.log.warning("storage", cat("puts are refused: ", life_->coordinator().puts_refused()));
  } else if (refused) {
    life_->take_puts();
    environment_.log.info("storage", cat("puts are taken again: ", human_bytes(free_bytes), " free"));
  }
}

void Node::stop(Duration patience, std::function<void(Status)> done) {
  environment_.log.info("node", "stops: finishes what was accepted");
  stopping_ = Stopping{environment_.clock.now() + patience, std::move(done)};
  joiner_.reset();
  if (life_ != nullptr) life_->stop_converging();
  refuse_first_puts(first_puts_.take(), why_not_serving());
}

void Node::finish_stopping(Time now) {
  if (!stopping_ || stopping_->step != Stopping::Step::kFinishing) return;
  const bool serves = life_ != nullptr && !failing_;
  if (serves && !stopping_->peers_closed && life_->coordinator().under_way() == 0) {
    // What others still send would never end. They see at once that this node is gone.
    stopping_->peers_closed = true;
    peer_door_.close_all();
  }
  const bool quiet = life_ == nullptr ? !opening_ : failing_ || life_->idle();
  if (!quiet && now < stopping_->until) return;
  if (serves && !quiet) life_->fail_all(unavailable(cat(identity_.name, " is stopping")));
  if (opening_ || (life_ != nullptr && life_->off_loop())) return;
  if (!serves || !quiet) {
    return end_stopping(
        unavailable(cat("not everything was written in time, or the disk failed (", failure_, ")")));
  }
  stopping_->step = Stopping::Step::kFlushing;
  life_->flush([this](Status status) { end_stopping(std::move(status)); });
}

void Node::end_stopping(Status status) {
  environment_.log.info("node", "stopped");
  door_.close_all();
  peer_door_.close_all();
  links_.close_all();
  if (!status.ok())
    environment_.log.error("storage", cat("stopped without a last flush: ", status.message()));
  const std::function<void(Status)> done = std::exchange(stopping_->done, nullptr);
  stopping_->step = Stopping::Step::kEnded;
  done(std::move(status));
}

std::string Node::why_not_serving() const {
  if (!ended_.ok()) return ended_.message();
  if (stopping_) return cat(identity_.name, " is stopping: ask another node, or again when it is back");
  if (failing_ || (!ready_ && !failure_.empty()))
    return cat(identity_.name, " reopens its store after a failure of its disk (", failure_, "): try again");
  if (life_ != nullptr) return cat(identity_.name, " introduces itself to the other members: try again");
  if (joiner_) return cat(identity_.name, " is joining its cluster: try again");
  return cat(identity_.name, " is opening its store: try again");
}

Result<Welcome> Node::welcome() const {
  // A boot that has failed, or isn't there yet, must not be taken for the one that a client's puts go to.
  if (!serving()) return unavailable(why_not_serving());
  return Welcome{.protocol = kProtocolVersion,
                 .cluster = identity_.cluster,
                 .node = identity_.node,
                 .name = identity_.name,
                 .boot = life_->boot()};
}

PeerHello Node::hello() const {
  if (member_ != nullptr) return member_->hello();
  return {.protocol = kProtocolVersion,
          .format = kFormatVersion,
          .cluster = identity_.cluster,
          .node = identity_.node,
          .disk = identity_.disk,
          .boot = next_boot_,
          .name = identity_.name,
          .peer_address = settings_.peer_address,
          .client_address = settings_.client_address};
}

PeerLinks::Callbacks Node::link_callbacks() {
  return {.hello = [this] { return hello(); },
          .on_welcome =
              [this](const PeerWelcome& welcome, const Address& address) {
                return member_ != nullptr && member_->on_welcome(welcome, address);
              },
          .on_refused =
              [this](NodeId node, const Status& why) {
                if (member_ != nullptr) member_->on_refused(node, why);
              },
          .on_unreachable =
              [this](NodeId node, const Status& why) {
                if (member_ != nullptr) member_->on_unreachable(node, why);
              },
          .on_reachable =
              [this](NodeId node, bool maybe_lost) {
                if (member_ != nullptr) member_->on_reachable(node, maybe_lost);
              }};
}

void Node::on_hello(const PeerHello& hello, std::function<void(Result<PeerWelcome>)> answer) {
  if (member_ != nullptr && !failing_ && ended_.ok()) return member_->on_hello(hello, std::move(answer));
  // Who takes in a joiner looks whether it can be reached.
  if (joiner_ && hello.channel == PeerChannel::kIdentify && (!hello.to || hello.to == identity_.node)) {
    return answer(PeerWelcome{.cluster = identity_.cluster,
                              .node = identity_.node,
                              .disk = identity_.disk,
                              .boot = next_boot_,
                              .name = identity_.name});
  }
  answer(unavailable(why_not_serving()));
}

void Node::on_join(const JoinRequest& request, std::function<void(JoinAnswer)> answer) {
  if (serving() && !stopping_) return member_->on_join(request, std::move(answer));
  JoinAnswer refusal;
  refusal.status = unavailable(why_not_serving());
  answer(std::move(refusal));
}

void Node::on_peer_message(NodeId from, uint64_t lineage, uint64_t epoch, PeerMessage&& message) {
  if (member_ == nullptr || failing_ || !ended_.ok()) return;
  member_->on_peer_message(from, lineage, epoch, std::move(message));
}

}  // namespace ringkv
