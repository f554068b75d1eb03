// Where the keys live, as a client knows it: the ring of one epoch, and where its members serve clients.
// Immutable; replaced when a newer one was fetched. From any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/client_message.h"
#include "base/transport.h"
#include "replication/ring.h"

namespace ringkv {

class ClientRoutes {
 public:
  // From bytes of outside: refused when malformed. `earlier` lends its ring where the description is the
  // same.
  static Result<std::shared_ptr<const ClientRoutes>> from(const RoutingTable& table,
                                                          const ClientRoutes* earlier);

  const Ring& ring() const { return *ring_; }
  uint64_t epoch() const { return ring_->epoch(); }

  // Of a member, by its position in the description; empty: it serves no clients, or isn't known.
  const Address& address(uint16_t position) const { return addresses_[position]; }

  // Positions, in preference order.
  std::span<const uint16_t> owners(const KeyDigest& key) const {
    return ring_->read_list(ring_->partition(key));
  }
  std::vector<std::string> names_of_owners(std::string_view bucket, std::string_view key) const;

  // Every member has an address.
  bool complete() const;

  // Not older than the other; of the same epoch it may know more addresses.
  bool may_replace(const ClientRoutes& other) const;

 private:
  ClientRoutes(std::shared_ptr<const Ring> ring, std::vector<Address> addresses)
      : ring_(std::move(ring)), addresses_(std::move(addresses)) {}

  std::shared_ptr<const Ring> ring_;
  std::vector<Address> addresses_;
};

}  // namespace ringkv
