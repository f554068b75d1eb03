// What the record of a finished get comes to, for each kind of question. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/client_message.h"
#include "replication/get_request.h"
#include "replication/put_copies.h"
#include "replication/ring_view.h"

namespace ringkv {

// Which owners have acknowledged a put, and who keeps hints for others.
PutReceipt receipt(const RingView& view, const std::vector<NodeId>& acknowledged_by, bool synced,
                   const std::vector<PutCopies::Hint>& hints = {});

// What a finished get comes to; UNKNOWN_OUTCOME where a retried put isn't found, or not on enough owners.
// What the ring says of it (epoch) is filled in.
ClientReply get_reply(const GetRequest& get, const RingView& view, bool confirmed, uint64_t now_ms);

// A read that fails has read nothing; but to say so of a put that was tried before would be a lie.
ClientReply get_failure(const GetRequest::Question& question, Status status);

}  // namespace ringkv
