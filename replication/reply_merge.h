// What several replicas' copies of one key come to. A replica that has dropped what another still holds knows
// it by its floor alone; so with each copy comes, where copies differ, the floor of its replica. Pure.
#pragma once

#include <vector>

#include "replication/messages.h"

namespace ringkv {

// The merge of the replies' records, each with what its floor says of the versions that others hold. Its
// context is raised by just that, and doesn't carry floors on.
Record merged(const std::vector<const ReplicaGetReply*>& replies);

// True when all of it is superseded or held at the replica, as far as the reply tells.
bool knows(const ReplicaGetReply& reply, const VersionVector& seen);

}  // namespace ringkv
