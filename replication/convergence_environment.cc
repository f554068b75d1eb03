#include "replication/convergence_environment.h"

#include <utility>

namespace ringkv {

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
