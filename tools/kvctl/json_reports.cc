// JSON of what operators ask about converging copies.
#include <nlohmann/json.hpp>

#include "tools/kvctl/json_text.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string hints_json(const std::vector<HintInfo>& peers, const std::vector<std::string>& unknown) {
  uint64_t hints = 0;
  uint64_t bytes = 0;
  Json list = Json::array();
  for (const HintInfo& peer : peers) {
    hints += peer.hints;
    bytes += peer.bytes;
    list.push_back(
        {{"for", peer.intended}, {"held_by", peer.held_by}, {"hints", peer.hints}, {"bytes", peer.bytes}});
  }
  return Json{{"hints", hints}, {"bytes", bytes}, {"peers", std::move(list)}, {"unknown", unknown}}.dump();
}

std::string lag_json(const std::vector<LagInfo>& pairs, const std::vector<std::string>& unknown) {
  Json list = Json::array();
  for (const LagInfo& pair : pairs) {
    list.push_back({{"from", pair.from},
                    {"to", pair.to},
                    {"lag_s", pair.lag_seconds ? Json(*pair.lag_seconds) : Json()},
                    {"differing_partitions", pair.differing_partitions},
                    {"behind", pair.behind},
                    {"problem", pair.problem.empty() ? Json() : Json(pair.problem)}});
  }
  return Json{{"pairs", std::move(list)}, {"unknown", unknown}}.dump();
}

std::string repair_json(const RepairReport& report) {
  return Json{{"differences", report.differences},    {"keys_sent", report.keys_sent},
              {"bytes_sent", report.bytes_sent},      {"partial", report.partial},
              {"partitions", report.partitions},      {"problems", report.problems},
              {"accepted_loss", report.accepted_loss}}
      .dump();
}

std::string purge_json(const PurgeReport& report) {
  return Json{{"erased", report.erased}, {"blocked", report.blocked}, {"blocked_by", report.blocked_by}}
      .dump();
}

std::string scrub_json(const ScrubReport& report) {
  return Json{{"partitions", report.partitions},
              {"records", report.records},
              {"leaves_corrected", report.leaves_corrected},
              {"problems", report.problems}}
      .dump();
}

}  // namespace ringkv::tools
