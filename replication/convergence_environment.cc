#include "replication/convergence_environment.h"

#include <utility>

namespace ringkv {

void ConvergenceEnvironment::on_round(const std::vector<Partition>& partitions, NodeId source,
                                      const std::set<Partition>& incomplete) {
  if (takeover.partitions() == 0) {
    wholeness.on_round(partitions, source, view.ring());
    return;
  }
  for (const Partition partition : partitions) {
    const bool is_whole = !incomplete.contains(partition);
    // An owner that stays becomes whole as always; one that has no copy yet, by what it takes over.
    if (!takeover.is_pending(partition) || !takeover.is_gained(partition)) {
      wholeness.on_round({partition}, source, view.ring());
      takeover.on_round(partition, source, is_whole);
      continue;
    }
    if (takeover.has_heard_enough(partition, view, wholeness) && !wholeness.is_whole(partition))
      takeover.begin_again(partition);
    takeover.on_round(partition, source, is_whole);
    if (takeover.has_heard_enough(partition, view, wholeness)) wholeness.make_whole(partition);
  }
}

void ConvergenceEnvironment::answer(const Requester& requester, ClientReply reply,
                                    MessageOutbox& outbox) const {
  reply.epoch = view.ring().epoch();
  reply.boot = settings.boot;
  if (requester.forwarded_by) {
    outbox.send(requester.forwarded_by, ForwardedReply{requester.request, std::move(reply)});
  } else {
    outbox.send(settings.self, ClientAnswer{requester, std::move(reply)});
  }
}

}  // namespace ringkv
