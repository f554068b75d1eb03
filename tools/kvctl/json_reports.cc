// What all members have answered, and what is planned.
#include <nlohmann/json.hpp>

#include "tools/kvctl/json_text.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::ordered_json;

Json pair_json(const LagOfAll::Pair& pair) {
  const LagInfo& lag = pair.lag;
  return {{"from", lag.from},
          {"to", lag.to},
          {"lag_s", lag.lag_seconds ? Json(*lag.lag_seconds) : Json(nullptr)},
          {"differing_partitions", lag.differing_partitions},
          {"behind", lag.behind},
          {"hint_bytes", pair.hint_bytes ? Json(*pair.hint_bytes) : Json(nullptr)},
          {"problem", lag.problem.empty() ? Json(nullptr) : Json(lag.problem)}};
}

Json member_json(const TransferReport& member) {
  Json transfers = Json::array();
  for (const TransferInfo& transfer : member.transfers)
    transfers.push_back({{"from", transfer.from},
                         {"to", transfer.to},
                         {"partitions", transfer.partitions},
                         {"partitions_done", transfer.partitions_done},
                         {"keys", transfer.keys},
                         {"bytes", transfer.bytes},
                         {"seconds", transfer.seconds}});
  return {{"name", member.node},
          {"bytes_per_second", member.bytes_per_second},
          {"throttle", member.limit == 0 ? Json("auto") : Json(member.limit)},
          {"strained", member.is_strained},
          {"taken_in", member.taken_in},
          {"paused", member.paused.empty() ? Json(nullptr) : Json(member.paused)},
          {"to_take_over", member.to_take_over},
          {"taken_over", member.taken_over},
          {"to_refill", member.to_refill},
          {"to_let_go", member.to_let_go},
          {"transfers", transfers}};
}

}  // namespace

std::string to_json(const HintsOfAll& hints) {
  Json peers = Json::array();
  for (const HintInfo& peer : hints.peers) {
    peers.push_back(
        {{"for", peer.intended}, {"held_by", peer.held_by}, {"hints", peer.hints}, {"bytes", peer.bytes}});
  }
  const Json json = {
      {"hints", hints.hints}, {"bytes", hints.bytes}, {"peers", peers}, {"unknown", hints.unknown}};
  return json.dump();
}

std::string to_json(const LagOfAll& lag) {
  Json pairs = Json::array();
  for (const LagOfAll::Pair& pair : lag.pairs) pairs.push_back(pair_json(pair));
  const Json json = {{"pairs", pairs}, {"unknown", lag.unknown}};
  return json.dump();
}

std::string to_json(const TransfersOfAll& transfers) {
  Json members = Json::array();
  for (const TransferReport& member : transfers.members) members.push_back(member_json(member));
  const Json json = {{"members", members}, {"unknown", transfers.unknown}};
  return json.dump();
}

std::string to_json(const RepairOfAll& repair) {
  const RepairReport& sum = repair.sum;
  const Json json = {{"differences", sum.differences}, {"keys_sent", sum.keys_sent},
                     {"bytes_sent", sum.bytes_sent},   {"partial", sum.partial},
                     {"partitions", sum.partitions},   {"problems", sum.problems},
                     {"unknown", repair.unknown},      {"accepted_loss", sum.accepted_loss}};
  return json.dump();
}

std::string to_json(const PurgeOfAll& purge) {
  const Json json = {{"erased", purge.sum.erased},
                     {"blocked", purge.sum.blocked},
                     {"blocked_by", purge.sum.blocked_by},
                     {"partial", !purge.unknown.empty()},
                     {"unknown", purge.unknown}};
  return json.dump();
}

std::string to_json(const ScrubOfAll& scrub) {
  const Json json = {{"partitions", scrub.sum.partitions},
                     {"records", scrub.sum.records},
                     {"leaves_corrected", scrub.sum.leaves_corrected},
                     {"problems", scrub.sum.problems},
                     {"partial", !scrub.unknown.empty()},
                     {"unknown", scrub.unknown}};
  return json.dump();
}

std::string to_json(const PlanReport& report) {
  Json moves = Json::array();
  for (const PlanMoves& one : report.moves) {
    moves.push_back({{"from", one.from},
                     {"to", one.to},
                     {"partitions", one.partitions},
                     {"keys", one.keys},
                     {"bytes", one.bytes}});
  }
  const Json json = {{"from_epoch", report.from_epoch},
                     {"stage", report.stage},
                     {"steps", report.steps},
                     {"moves", moves},
                     {"seconds", report.seconds},
                     {"below_n", report.below_n},
                     {"rack_violations", report.rack_violations},
                     {"warnings", report.warnings},
                     {"waiting", report.waiting},
                     {"not_ready", report.not_ready}};
  return json.dump();
}

std::string to_json(const ForceReport& report) {
  const Json json = {{"forced", report.forced},
                     {"lineage", report.lineage},
                     {"epoch", report.epoch},
                     {"survivors", report.survivors},
                     {"lost", report.lost},
                     {"partitions", report.partitions},
                     {"without_copy", report.without_copy},
                     {"fewer_than_needed", report.fewer_than_needed},
                     {"ends", report.ends}};
  return json.dump();
}

}  // namespace ringkv::tools
