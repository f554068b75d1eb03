#include "storage/place.h"

#include "storage/storage_key.h"

namespace ringkv {

Place place_of(const Placement& placement, std::string_view bucket, std::string_view key) {
  Place place;
  place.digest = digest_of(bucket, key);
  place.identity = identity_of(bucket, key);
  place.token = placement.token(place.digest);
  place.partition = partition_of(place.token, placement.partitions);
  place.leaf = leaf_of(place.token, placement.partitions);
  place.storage_key = storage_key(place.token, bucket, key);
  return place;
}

}  // namespace ringkv
