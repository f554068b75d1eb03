// One of each message, with every field set.
#pragma once

#include <string>
#include <vector>

#include "base/client_message.h"

namespace ringkv {

inline std::vector<ClientRequest> sample_requests() {
  const std::string binary("\0k\xFF\n", 4);
  ClientPut put{.bucket = "bucket",
                .key = binary,
                .value = "value\0bytes",
                .context = "context",
                .w = 2,
                .durability = Durability::kBuffered,
                .primary = true,
                .ttl_ms = 60'000,
                .read_first = true,
                .seen = binary,
                .operation = {0xDA39A3EE5E6B4B0D, 17},
                .first_tried = {0x4A1B}};
  ClientPut blind;
  blind.key = "k";
  blind.operation = {1, 1};
  ClientPut remove = blind;
  remove.tombstone = true;
  remove.context = "";
  const Duration timeout = std::chrono::seconds(5);
  return {{put, timeout},
          {blind, timeout},
          {remove, Duration(0)},
          {ClientGet{"bucket", binary, 3, true}, timeout},
          {ClientGet{"", "k", 0, false}, timeout},
          {ClientScan{"bucket", "prefix", "after", 100, true}, timeout},
          {ClientLocalGet{"n1", "bucket", "k"}, timeout},
          {ClientExplain{"bucket", "k"}, timeout},
          {ClientStatus{}, timeout},
          {ClientRing{true}, timeout},
          {ClientStatistics{"n1", true}, timeout},
          {ClientBuckets{}, timeout},
          {ClientCreateBucket{{"b", "lww", 1, 2, 3}}, timeout},
          {ClientChangeBucket{"b", {1, 0, 7}}, timeout},
          {ClientChangeBucket{"b", {}}, timeout},
          {ClientRouting{}, timeout},
          {ClientFault{ClientFault::Kind::kDelay, "n2", 150}, timeout},
          {ClientFault{ClientFault::Kind::kClock, "n2", 0, -864'000'000}, timeout},
          {ClientFault{}, timeout},
          {ClientHints{"n1"}, timeout},
          {ClientHints{}, timeout},
          {ClientLag{"n1"}, timeout},
          {ClientTransfers{"n1"}, timeout},
          {ClientThrottle{20'000'000}, timeout},
          {ClientThrottle{}, timeout},
          {ClientRepair{"n1", 0, false}, std::chrono::minutes(10)},
          {ClientRepair{"", std::nullopt, true}, timeout},
          {ClientPurge{"n1"}, timeout},
          {ClientScrub{"n1"}, timeout},
          {ClientPartitionSizes{"n1"}, timeout},
          {ClientPlanShow{}, timeout},
          {ClientPlan{{PlanJoin{"n4"}, PlanLeave{"n3"}, PlanReplace{"n2", "n5", true}, PlanWeight{"n1", 0.5},
                       PlanRack{"n1", "b"}, PlanReplicas{5}, PlanMove{4095, "n1"}}},
           timeout},
          {ClientPlan{}, timeout},
          {ClientCommitPlan{9, ~0ULL}, timeout},
          {ClientCancelPlan{9}, timeout},
          {ClientForceRing{{"n2", "n3"}, true}, timeout}};
}

inline std::vector<ClientReply> sample_replies() {
  using Kind = Acknowledgement::Kind;
  const VersionInfo value{"v1", "da39.4b0d:7", false, 1'700'000'000'000'000, 1'800'000'000'000, "put"};
  const VersionInfo tombstone{"", "da39.4b0d:8", true, 1'700'000'000'000'001, std::nullopt, "hint"};
  MemberInfo full{"n1", 7, "a", 1.5, "normal", "up", 0.25, "n1:7400", "n1:7401", 9,
                  1,    2, 3,   4,   0.5,      -2.5, 6,    12,        5};
  MemberInfo down{"n2", 8, "b", 1, "leaving", "down", 0, "", "", {}, {}, {}, {}, {}, {}};
  const std::vector<ClientReply::Body> bodies = {
      std::monostate(),
      PutReceipt{9, Context("c"), {{"n1", Kind::kSynced, ""}, {"n2", Kind::kHint, "n3"}}, "1.2@3"},
      GetResult{{"", std::string("a\0b", 3), "c"}, Context("seen"), 9, true},
      GetResult{},
      ExistsAnswer{true},
      ScanPage{{{"a", {}}, {"b", {"1", ""}}, {"c", {"2"}}}, "cursor"},
      LocalRecord{true, {value, tombstone}, Context("c")},
      Explanation{~0ULL,
                  4095,
                  9,
                  {{"n1", "a", true, {value}, "n3"},
                   {"n2", "b", false, {}, ""},
                   {"n3", "c", true, {tombstone}, "", false, {"n1's life 4a1b: 17", ""}}},
                  {"found", "not found"}},
      ClusterStatus{9, true, {full, down}, 2, ~0ULL},
      RingInfo{9,
               "digest",
               3,
               4,
               "balanced",
               {full, down},
               {"n1", "n2", "n1", "n2"},
               "begun",
               {"n4 joins"},
               {"n5"},
               ~0ULL},
      ForceReport{true, ~0ULL, 9, {"n1"}, {"n2", "n3"}, 4096, {0, 4095}, 17, "weight n1 2"},
      ForceReport{},
      Statistics{{"puts", 12}, {"put_p99_us", 1.5}},
      std::vector<BucketInfo>{{"", "siblings", 0, 0, 0}, {"b", "lww", 1, 2, 3}},
      RoutingTable{"description\xFF", {{NodeId{7}, "n1:7401"}, {NodeId{8}, ""}}},
      std::vector<HintInfo>{{"n3", "n1", 412, ~0ULL}, {"n4", "n1", 0, 0}},
      std::vector<HintInfo>{},
      std::vector<LagInfo>{{"n1", "n2", 1.5, 3, ~0ULL, "timed out\xFF"},
                           {"n3", "n2", std::nullopt, 0, 0, ""}},
      RepairReport{1, 2, 3, 4, true, {"n3 can't be reached", ""}, {0, 17, 65535}},
      RepairReport{},
      PurgeReport{1, 2, {"n3's life 4a1b"}},
      ScrubReport{1, 2, 3, {"key '\xFF'"}},
      std::vector<PartitionSize>{{0, 1, 2}, {65535, ~0ULL, ~0ULL}},
      PlanOutline{{9, "planned", {"join n4"}, {}, 0, 12, 7, {"partition 3"}, {"two voters"}, {"n4"}, {"n5"}},
                  {{"n1", "n4", "n2", {0, 4095}}, {"n1", "n4", "", {}}}},
      TransferReport{"n4", 1, 2, true, 3, "full", 4, 5, 6, 7, {{"n1", "n4", 8, 9, 10, ~0ULL, 1.5}}}};
  std::vector<ClientReply> replies;
  for (const ClientReply::Body& body : bodies) replies.push_back({{}, body, 9, {0x4A1B}, "seen\xFE"});
  replies.push_back({unknown_outcome("key '\xFF': it may have been written"), {}, 9, {0x4A1B}, ""});
  return replies;
}

}  // namespace ringkv
