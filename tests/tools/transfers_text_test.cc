#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"

namespace ringkv::tools {
namespace {

TransfersOfAll some() {
  TransferReport n3{.node = "n3", .bytes_per_second = 10 << 20, .is_strained = true};
  TransferReport n4{.node = "n4",
                    .bytes_per_second = 10 << 20,
                    .limit = 10 << 20,
                    .taken_in = 9 << 20,
                    .to_take_over = 2048,
                    .taken_over = 512,
                    .to_refill = 3};
  n4.transfers = {{"n1", "n4", 1000, 250, 5000, 5 << 20, 3.2}, {"n2", "n4", 1048, 0, 0, 0, 0.5}};
  return {{n3, n4}, {"n5"}};
}

TEST(TransfersText, HasEachMemberWithItsPaceAndEachTransferWithItsProgress) {
  EXPECT_EQ(to_text(some()),
            "NAME  TAKES IN   AT MOST   BY                            TO TAKE OVER  TO REFILL  TO LET GO\n"
            "n3    0 bytes/s  10 MiB/s  auto: requests are slow here  -             0          0\n"
            "n4    9 MiB/s    10 MiB/s  kvctl throttle                512 of 2048   3          0\n"
            "FROM  TO  PARTITIONS   KEYS  BYTES    FOR  LEFT\n"
            "n1    n4  250 of 1000  5000  5 MiB    3s   9s\n"
            "n2    n4  0 of 1048    0     0 bytes  0s   -\n");
  EXPECT_NE(to_text(TransfersOfAll()).find("nothing is under way"), std::string::npos);
}

TEST(TransfersText, AsJsonSaysTheSame) {
  const auto json = nlohmann::json::parse(to_json(some()));
  EXPECT_EQ(json["unknown"], std::vector<std::string>{"n5"});
  EXPECT_EQ(json["members"][0]["throttle"], "auto");
  EXPECT_EQ(json["members"][0]["strained"], true);
  EXPECT_TRUE(json["members"][0]["paused"].is_null());
  const auto& n4 = json["members"][1];
  EXPECT_EQ(n4["throttle"], 10 << 20);
  EXPECT_EQ(n4["to_take_over"], 2048);
  EXPECT_EQ(n4["taken_over"], 512);
  EXPECT_EQ(n4["transfers"][0]["partitions_done"], 250);
  EXPECT_EQ(n4["transfers"][0]["from"], "n1");
}

}  // namespace
}  // namespace ringkv::tools
