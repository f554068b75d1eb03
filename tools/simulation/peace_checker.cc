#include "tools/simulation/peace_checker.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tools/simulation/ring_history.h"

namespace ringkv::simulation {
namespace {

// Compares what was answered at the end, key by key.
class PeaceChecker {
 public:
  explicit PeaceChecker(const RingFacts& ring) : ring_(ring) {}

  void look(OperationIndex index, const Operation& operation) {
    const ClientRequest::Body& asked = operation.request.body;
    const ClientReply::Body& answer = operation.reply.body;
    if (const auto* get = std::get_if<ClientGet>(&asked)) {
      look_at(index, *get, std::get<GetResult>(answer));
    } else if (const auto* local = std::get_if<ClientLocalGet>(&asked)) {
      look_at(index, *local, std::get<LocalRecord>(answer));
    } else if (const auto* status = std::get_if<ClusterStatus>(&answer)) {
      look_at(index, *status);
    }
  }

  // Of a key of which a quorum of owners is gone for good no get can succeed.
  bool may_fail(const Operation& operation) const {
    const auto* get = std::get_if<ClientGet>(&operation.request.body);
    return get != nullptr && operation.reply.status.code() == StatusCode::kUnavailable &&
           ring_.rings != nullptr && !ring_.rings->quorum_without(get->bucket, get->key, ring_.gone);
  }

  std::optional<Violation> verdict() {
    for (const auto& [key, copies] : copies_) {
      const uint32_t expected = copies_of(key);
      if (copies.size() + ring_.gone.size() < expected || copies.size() > expected)
        broken("L3", cat("key ", key.second, " has ", copies.size(), " copies, not ", expected));
    }
    return violation_;
  }

 private:
  using Key = std::pair<std::string, std::string>;
  using Versions = std::set<std::tuple<std::string, bool, std::string>>;  // dot, tombstone, value

  void broken(std::string_view invariant, const std::string& what) {
    if (!violation_) violation_ = Violation{std::string(invariant), what};
  }

  uint32_t copies_of(const Key& key) const {
    if (ring_.rings == nullptr) return ring_.copies;
    return ring_.rings->copies(key.first, key.second, kNever, kNever).most;
  }

  void look_at(OperationIndex index, const ClientGet& get, const GetResult& result) {
    const std::set<std::string> values(result.values.begin(), result.values.end());
    const auto [first, is_first] = answers_.try_emplace({get.bucket, get.key}, std::pair(index, values));
    if (!is_first && first->second.second != values)
      broken("L3", cat(name_of(first->second.first), " and ", name_of(index), " differ about key ", get.key));
    if (result.unconfirmed) broken("L6", cat(name_of(index), " is unconfirmed"));
  }

  void look_at(OperationIndex index, const ClientLocalGet& get, const LocalRecord& record) {
    Versions versions;
    for (const VersionInfo& version : record.versions)
      versions.emplace(version.dot, version.tombstone, version.value);
    const bool is_owner = ring_.rings == nullptr || ring_.rings->owns_at_last(get.bucket, get.key, get.node);
    if (versions.empty() || !is_owner) return;
    std::vector<std::pair<OperationIndex, Versions>>& copies = copies_[{get.bucket, get.key}];
    if (!copies.empty() && copies.front().second != versions)
      broken("L3", cat(name_of(copies.front().first), " and ", name_of(index),
                       " show different copies of key ", get.key));
    copies.emplace_back(index, std::move(versions));
  }

  void look_at(OperationIndex index, const ClusterStatus& status) {
    epochs_.emplace(status.epoch, index);
    if (epochs_.size() > 1)
      broken("L1", cat(name_of(epochs_.begin()->second), " and ", name_of(index), " tell different epochs"));
    for (const MemberInfo& member : status.members) {
      // A leaver may wait for who is gone; whether it should have left is judged elsewhere (L5).
      if ((member.state != "down") != !ring_.gone.contains(member.name))
        broken("L1", cat(name_of(index), " calls ", member.name, " ", member.state));
    }
  }

  const RingFacts& ring_;
  std::map<Key, std::pair<OperationIndex, std::set<std::string>>> answers_;
  std::map<Key, std::vector<std::pair<OperationIndex, Versions>>> copies_;
  std::map<uint64_t, OperationIndex> epochs_;
  std::optional<Violation> violation_;
};

}  // namespace

std::optional<Violation> check_peace(const History& history, OperationIndex last, const RingFacts& ring) {
  PeaceChecker checker(ring);
  for (OperationIndex index = last; index < history.operations().size(); ++index) {
    const Operation& operation = history.operations()[index];
    const Status& status = operation.reply.status;
    if (checker.may_fail(operation)) continue;
    if (!status.ok()) return Violation{"L6", cat(name_of(index), ": ", status.to_string())};
    checker.look(index, operation);
  }
  return checker.verdict();
}

}  // namespace ringkv::simulation
