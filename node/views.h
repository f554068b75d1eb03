// What operators see of a node: pure views of its ring and its life.
#pragma once

#include "base/ring_description.h"
#include "node/life.h"
#include "ringkv/admin.h"

namespace ringkv {

ClusterStatus cluster_status(const Life& life, NodeId self);
RingInfo ring_info(const Ring& ring, bool owners);
std::vector<BucketInfo> bucket_infos(const RingDescription& ring);

// The ring that follows; INVALID_ARGUMENT says what is wrong with the bucket.
Result<RingDescription> with_new_bucket(RingDescription ring, const BucketInfo& bucket);
Result<RingDescription> with_changed_bucket(RingDescription ring, std::string_view name,
                                            const Admin::BucketChange& change);

}  // namespace ringkv
