#include "tools/simulation/disk_losses.h"

#include <algorithm>

namespace ringkv::simulation {
namespace {

bool any_between(const std::vector<Step>& steps, Step after, Step before) {
  const auto first = std::upper_bound(steps.begin(), steps.end(), after);
  return first != steps.end() && *first < before;
}

}  // namespace

DiskLosses::DiskLosses(const History& history) {
  for (const PowerCut& cut : history.power_cuts()) {
    nodes_[cut.node].cuts.push_back(cut.at);
    cuts_.push_back(cut.at);
  }
  for (const DiskLoss& loss : history.disk_losses()) {
    nodes_[loss.node].disk_losses.push_back(loss);
    disks_lost_.push_back(loss.at);
    noticed_.push_back(loss.noticed);
  }
  for (std::vector<Step>* steps : {&cuts_, &disks_lost_, &noticed_}) std::sort(steps->begin(), steps->end());
  for (const Operation& operation : history.operations()) {
    // What a repeated operation is answered was synced some time ago.
    if (operation.completed == kNever || operation.first_try) continue;
    const auto* receipt = std::get_if<PutReceipt>(&operation.reply.body);
    if (receipt == nullptr) continue;
    for (const Acknowledgement& ack : receipt->acks) {
      if (ack.kind != Acknowledgement::Kind::kSynced) continue;
      nodes_[ack.node].syncs.emplace(operation.invoked, operation.completed);
    }
  }
}

bool DiskLosses::may_have_lost(const std::string& node, const Written& written, Step until) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && may_have_lost(found->second, written, until);
}

// It is safe from the first cut, and from all later ones, once it was synced before that.
bool DiskLosses::may_have_lost(const Node& node, const Written& written, Step until) {
  const auto cut = std::upper_bound(node.cuts.begin(), node.cuts.end(), written.since);
  return cut != node.cuts.end() && *cut < until && !synced_between(node, written.known, *cut);
}

bool DiskLosses::synced_between(const Node& node, Step after, Step before) {
  for (auto sync = node.syncs.upper_bound(after); sync != node.syncs.end() && sync->first < before; ++sync) {
    if (sync->second < before) return true;
  }
  return false;
}

uint32_t DiskLosses::nodes_that_may_have_lost(const Written& written, Step until) const {
  uint32_t count = 0;
  for (const auto& [name, node] : nodes_) count += may_have_lost(node, written, until) ? 1 : 0;
  return count;
}

bool DiskLosses::lost_with_disk(const std::string& node, const Written& written, Step until) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && lost_with_disk(found->second, written, until);
}

bool DiskLosses::lost_with_disk(const Node& node, const Written& written, Step until) {
  return std::any_of(node.disk_losses.begin(), node.disk_losses.end(), [&](const DiskLoss& loss) {
    return loss.at > written.since && loss.at < until && loss.kept < written.known;
  });
}

bool DiskLosses::lost_unnoticed(const std::string& node, const Written& written, Step when,
                                Step until) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && lost_unnoticed(found->second, written, when, until);
}

bool DiskLosses::lost_unnoticed(const Node& node, const Written& written, Step when, Step until) {
  return std::any_of(node.disk_losses.begin(), node.disk_losses.end(), [&](const DiskLoss& loss) {
    return loss.at > written.since && loss.at < until && loss.noticed >= when && loss.kept < written.known;
  });
}

uint32_t DiskLosses::disks_lost_unnoticed(const Written& written, Step when, Step until) const {
  return static_cast<uint32_t>(std::count_if(nodes_.begin(), nodes_.end(), [&](const auto& node) {
    return lost_unnoticed(node.second, written, when, until);
  }));
}

uint32_t DiskLosses::disks_lost(const Written& written, bool synced, Step until) const {
  uint32_t count = 0;
  for (const auto& [name, node] : nodes_) {
    if (!synced && may_have_lost(node, written, until)) continue;
    count += lost_with_disk(node, written, until) ? 1 : 0;
  }
  return count;
}

DiskLosses::Situation DiskLosses::situation(Step noticed_by, Step lost_by) const {
  const auto before = [](const std::vector<Step>& steps, Step step) {
    return static_cast<size_t>(std::lower_bound(steps.begin(), steps.end(), step) - steps.begin());
  };
  return {before(cuts_, lost_by), before(disks_lost_, lost_by), before(noticed_, noticed_by)};
}

bool DiskLosses::any_disk_lost_between(Step after, Step before) const {
  return any_between(disks_lost_, after, before);
}

bool DiskLosses::any_disk_lost_between(const std::string& node, Step after, Step before) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() &&
         std::any_of(found->second.disk_losses.begin(), found->second.disk_losses.end(),
                     [&](const DiskLoss& loss) { return loss.at > after && loss.at < before; });
}

bool DiskLosses::any_cut_between(Step after, Step before) const { return any_between(cuts_, after, before); }

bool DiskLosses::any_cut_between(const std::string& node, Step after, Step before) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && any_between(found->second.cuts, after, before);
}

}  // namespace ringkv::simulation
