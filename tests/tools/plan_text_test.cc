#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"

namespace ringkv::tools {
namespace {

PlanReport planned() {
  PlanReport report;
  report.from_epoch = 7;
  report.stage = "planned";
  report.steps = {"join n4", "weight n2 2"};
  report.moves = {{"n1", "n4", 340, 5000, 1536}, {"n2", "n4", 12, 70, 20}};
  report.seconds = 12.3;
  report.bytes_per_second = 10 << 20;
  report.below_n = 1;
  report.warnings = {"with two voters both must answer"};
  report.waiting = {"n4"};
  return report;
}

TEST(PlanText, SaysWhatMovesAndThatNothingHasHappened) {
  EXPECT_EQ(to_text(planned()),
            "planned, epoch 7: join n4, weight n2 2\n"
            "FROM  TO  PARTITIONS  KEYS     BYTES\n"
            "n1    n4         340  5000   1.5 KiB\n"
            "n2    n4          12    70  20 bytes\n"
            "all              352  5070   1.5 KiB\n"
            "takes about 12 s at the present 10 MiB/s a member (kvctl throttle)\n"
            "1 partition with fewer than N live copies meanwhile\n"
            "warning: with two voters both must answer\n"
            "waiting to join: n4\n"
            "nothing has happened yet; `kvctl plan commit` begins it\n");
}

TEST(PlanText, SaysWhomAChangeWaitsFor) {
  PlanReport report;
  report.from_epoch = 8;
  EXPECT_EQ(to_text(report), "nothing is planned, epoch 8\n");
  report.stage = "begun";
  report.steps = {"n4 joins"};
  report.not_ready = {"n4"};
  EXPECT_EQ(to_text(report), "begun, epoch 8: n4 joins\nno copy moves\nstill taking copies in: n4\n");
}

TEST(PlanText, AsJsonHasWhatOthersRead) {
  const auto json = nlohmann::json::parse(to_json(planned()));
  EXPECT_EQ(json["from_epoch"], 7);
  EXPECT_EQ(
      json["moves"][0],
      (nlohmann::json{{"from", "n1"}, {"to", "n4"}, {"partitions", 340}, {"keys", 5000}, {"bytes", 1536}}));
  EXPECT_EQ(json["seconds"], 12.3);
  EXPECT_EQ(json["below_n"], 1);
  EXPECT_TRUE(json["rack_violations"].empty());
  EXPECT_EQ(json["stage"], "planned");
}

TEST(PlanText, ARingShowsWhatIsUnderWay) {
  RingInfo ring;
  EXPECT_EQ(to_text(ring).find("plan show"), std::string::npos);
  ring.stage = "begun";
  ring.steps = {"n4 joins"};
  ring.waiting = {"n5", "n6"};
  EXPECT_NE(to_text(ring).find("begun: n4 joins; see `kvctl plan show`\nwaiting to join: n5, n6\n"),
            std::string::npos)
      << to_text(ring);
}

TEST(PlanText, AStatusWarnsOfTwoVoters) {
  ClusterStatus status;
  status.voters = 2;
  EXPECT_NE(to_text(status, false).find("two voters"), std::string::npos);
  status.voters = 3;
  EXPECT_EQ(to_text(status, false).find("two voters"), std::string::npos);
}

}  // namespace
}  // namespace ringkv::tools
