// What the record of a finished get comes to, for each kind of question. Pure.
#pragma once

#include <string>

#include "replication/get_request.h"
#include "replication/ring.h"
#include "ringkv/admin.h"

namespace ringkv {

GetResult get_result(const GetRequest& get, uint64_t now_ms);

LocalRecord local_record(const GetRequest& get, uint64_t now_ms);

// `get` asked every owner; one that hasn't answered is shown as not alive.
Explanation explanation(const GetRequest& get, const Ring& ring, uint64_t now_ms);

// The receipt of a put that an earlier try made, if the record still holds its version.
std::optional<PutReceipt> receipt_in_record(const GetRequest& get);

}  // namespace ringkv
