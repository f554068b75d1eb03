#include "node/client_routes.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/address.h"

namespace ringkv {
namespace {

Result<std::shared_ptr<const Ring>> ring_from(const std::string& encoded) {
  Result<RingDescription> description = decode_ring_description(encoded);
  if (!description.ok()) return description.status();
  return std::make_shared<const Ring>(*std::move(description));
}

}  // namespace

Result<std::shared_ptr<const ClientRoutes>> ClientRoutes::from(const RoutingTable& table,
                                                               const ClientRoutes* earlier) {
  const bool same = earlier != nullptr && earlier->ring().encoded() == table.description;
  Result<std::shared_ptr<const Ring>> ring =
      same ? Result<std::shared_ptr<const Ring>>(earlier->ring_) : ring_from(table.description);
  if (!ring.ok()) return ring.status();

  std::unordered_map<NodeId, Address> known;
  for (const RoutingTable::ClientAddress& item : table.addresses) {
    if (host_port_from(item.address).ok()) known[item.node] = item.address;
  }
  std::vector<Address> addresses;
  for (const Member& member : (*ring)->description().members) addresses.push_back(known[member.node]);
  return std::shared_ptr<const ClientRoutes>(new ClientRoutes(*std::move(ring), std::move(addresses)));
}

std::vector<std::string> ClientRoutes::names_of_owners(std::string_view bucket, std::string_view key) const {
  std::vector<std::string> names;
  for (const uint16_t position : owners(digest_of(bucket, key)))
    names.push_back(ring_->member(position).name);
  return names;
}

bool ClientRoutes::complete() const {
  return std::none_of(addresses_.begin(), addresses_.end(),
                      [](const Address& address) { return address.empty(); });
}

bool ClientRoutes::may_replace(const ClientRoutes& other) const {
  const RingDescription& own = ring_->description();
  const RingDescription& others = other.ring_->description();
  return std::tie(own.lineage, own.epoch) >= std::tie(others.lineage, others.epoch);
}

}  // namespace ringkv
