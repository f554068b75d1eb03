// What a user's own workload is told, may do, and breaks. A whole one is tests/simulation/shopping_carts.
#include <gtest/gtest.h>

#include "tools/simulation/simulation.h"

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Puts one value, reads it in the end, and tells what it was called for.
class OneValue final : public UserWorkload {
 public:
  struct Told {
    std::string calls;
    std::vector<std::string> read;
    std::chrono::microseconds put_at{};
    std::vector<std::string> broken;  // what check() is to say
  };

  OneValue(Cluster& cluster, Told& told) : cluster_(cluster), told_(told) {}

  void start() override {
    told_.calls += "start ";
    put();
  }
  void stop() override { told_.calls += "stop "; }
  void on_quiet() override {
    told_.calls += "quiet ";
    cluster_.client(1).get("key", {}, [this](const Result<GetResult>& got) {
      if (got.ok()) told_.read = got->values;
    });
  }
  std::vector<std::string> check() override {
    told_.calls += "check";
    return told_.broken;
  }

 private:
  // Until it is acknowledged.
  void put() {
    cluster_.after(milliseconds(10), [this] {
      cluster_.client(0).put("key", "value", {}, [this](const Result<PutReceipt>& receipt) {
        if (!receipt.ok()) return put();
        told_.put_at = cluster_.now();
      });
    });
  }

  Cluster& cluster_;
  Told& told_;
};

SimulationResult run(OneValue::Told& told, Mode mode = Mode::kSafety) {
  return simulate({.mode = mode, .nodes = 3, .duration = seconds(10), .make_workload = [&](Cluster& cluster) {
                     return std::make_unique<OneValue>(cluster, told);
                   }});
}

TEST(UserLoad, IsStartedStoppedAndAskedInTheEndWhatItFound) {
  OneValue::Told told;
  const SimulationResult result = run(told);
  EXPECT_FALSE(result.violation) << result.violation->what;
  EXPECT_EQ(told.calls, "start stop quiet check");
  EXPECT_EQ(told.read, std::vector<std::string>{"value"});
  EXPECT_GE(told.put_at, milliseconds(10));
  EXPECT_LT(told.put_at, seconds(10));
}

TEST(UserLoad, WhatItSaysIsBrokenFailsTheRun) {
  OneValue::Told told{.broken = {"a thing is lost", "and another"}};
  const SimulationResult result = run(told);
  ASSERT_TRUE(result.violation);
  EXPECT_EQ(result.violation->invariant, "the workload's own");
  EXPECT_EQ(result.violation->what, "a thing is lost");
}

TEST(UserLoad, OfACoreAloneNothingIsAsked) {
  OneValue::Told told{.broken = {"a thing is lost"}};
  EXPECT_FALSE(run(told, Mode::kLiveness).violation);
  EXPECT_EQ(told.calls, "start stop ");
}

}  // namespace
}  // namespace ringkv::simulation
