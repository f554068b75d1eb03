#include "tools/simulation/receipts_checker.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "base/text.h"
#include "tools/simulation/ring_history.h"

namespace ringkv::simulation {
namespace {

// Of one put that was answered with a receipt, by the ring whose epoch that names.
class ReceiptChecker {
 public:
  ReceiptChecker(OperationIndex index, const ClientPut& put, const PutReceipt& receipt, const Ring& ring)
      : index_(index), put_(put), receipt_(receipt), ring_(ring) {}

  std::optional<Violation> verdict() const {
    const Partition partition = ring_.partition(digest_of(put_.bucket, put_.key));
    for (const Acknowledgement& ack : receipt_.acks) {
      if (ring_.description().find_member(ack.node) == nullptr)
        return broken("I9", cat("was acknowledged by ", ack.node, ", which is no member"));
    }
    if (may_be_remembered()) return std::nullopt;
    if (auto violation = check_list(ring_.preference_list(partition), "present")) return violation;
    return check_list(ring_.next_preference_list(partition), "next");
  }

 private:
  using List = std::span<const uint16_t>;

  Violation broken(std::string_view invariant, const std::string& what) const {
    return {std::string(invariant), cat(name_of(index_), " ", what, " in epoch ", ring_.epoch())};
  }

  bool is_on(List list, std::string_view node) const {
    return std::any_of(list.begin(), list.end(),
                       [&](uint16_t position) { return ring_.member(position).name == node; });
  }
  bool is_owner(std::string_view node) const {
    const Partition partition = ring_.partition(digest_of(put_.bucket, put_.key));
    return is_on(ring_.preference_list(partition), node) ||
           is_on(ring_.next_preference_list(partition), node);
  }

  // A client library that asks a second time, after it has lost a connection, may be answered from what the
  // coordinator remembers: those owners alone that gets ask now, and no hints. Nothing tells that apart.
  bool may_be_remembered() const {
    const List read = ring_.read_list(ring_.partition(digest_of(put_.bucket, put_.key)));
    return std::all_of(receipt_.acks.begin(), receipt_.acks.end(), [&](const Acknowledgement& ack) {
      return ack.kind != Acknowledgement::Kind::kHint && is_on(read, ack.node);
    });
  }

  // A stand-in counts on the lists of the owner whose hint it keeps; an owner that keeps one counts for
  // itself alone.
  std::optional<Violation> check_list(List list, std::string_view which) const {
    std::set<std::string_view> slots, nodes;
    for (const Acknowledgement& ack : receipt_.acks) {
      const bool hint = ack.kind == Acknowledgement::Kind::kHint;
      if (hint && (put_.primary || is_owner(ack.node))) continue;
      const std::string_view owner = hint ? ack.hint_for : ack.node;
      if (!is_on(list, owner)) continue;
      slots.insert(owner);
      nodes.insert(ack.node);
    }
    const uint32_t needed = put_.w == 0 ? quorum_of(static_cast<uint32_t>(list.size())) : put_.w;
    if (std::min(slots.size(), nodes.size()) >= needed) return std::nullopt;
    return broken("I11", cat("was acknowledged for ", slots.size(), " owners by ", nodes.size(),
                             " nodes of the ", which, " list, not ", needed, ","));
  }

  const OperationIndex index_;
  const ClientPut& put_;
  const PutReceipt& receipt_;
  const Ring& ring_;
};

}  // namespace

// What a repeated operation is answered may be found in the record.
std::optional<Violation> check_receipts(const History& history, const RingFacts& ring) {
  if (ring.rings == nullptr) return std::nullopt;
  for (OperationIndex index = 0; index < history.operations().size(); ++index) {
    const Operation& operation = history.operations()[index];
    const auto* put = std::get_if<ClientPut>(&operation.request.body);
    const auto* receipt = std::get_if<PutReceipt>(&operation.reply.body);
    if (put == nullptr || receipt == nullptr || operation.first_try) continue;
    if (operation.completed == kNever || !operation.reply.status.ok()) continue;
    const Ring* of_epoch = ring.rings->find(receipt->epoch);
    if (of_epoch == nullptr || receipt->acks.empty()) continue;
    if (auto violation = ReceiptChecker(index, *put, *receipt, *of_epoch).verdict()) return violation;
  }
  return std::nullopt;
}

}  // namespace ringkv::simulation
