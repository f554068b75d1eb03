#include "node/joiner.h"

#include <optional>

#include "tests/node/peer_links_transcript.h"

namespace ringkv {
namespace {

// It asks n1:1 and n2:1, with 30 s of patience.
class JoinerTest : public PeerLinksTranscript {
 protected:
  JoinerTest()
      : joiner_(links, said_, {.request = sample_join(), .seeds = {"n1:1", "n2:1"}, .patience = seconds(30)},
                [this](JoinAnswer answer) { outcome_ = std::move(answer); }) {
    joiner_.start(clock.now());
  }

  void wait(Duration time) {
    for (const Time end = clock.now() + time; clock.now() < end && !outcome_;) {
      pass(milliseconds(100));
      joiner_.on_tick(clock.now());
    }
  }
  // To the question that stands; how many there have been is the connection's number.
  void answer(const JoinAnswer& answer) {
    links.on_connected(transport.last);
    std::string bytes;
    codec.encode(answer, bytes);
    links.on_bytes(transport.last, bytes);
  }
  static JoinAnswer not_yet(const std::string& why) { return {unavailable(why), {}, {}, true}; }

  struct SaidLog final : Log {
    bool wants(LogLevel level) const override { return level == LogLevel::kInfo; }
    void write(LogLevel, std::string_view, std::string_view message) override { info.emplace_back(message); }

    std::vector<std::string> info;
  };

  SaidLog said_;
  std::optional<JoinAnswer> outcome_;
  Joiner joiner_;
};

TEST_F(JoinerTest, TheRingThatTakesItInEndsIt) {
  answer({{}, "ring", {}});
  ASSERT_TRUE(outcome_.has_value());
  EXPECT_EQ(outcome_->description, "ring");
}

TEST_F(JoinerTest, ARefusalByNameEndsIt) {
  answer({forbidden("the name n3 is taken"), {}, {}});
  ASSERT_TRUE(outcome_.has_value());
  EXPECT_NE(outcome_->status.message().find("n1:1 refuses: the name n3"), std::string::npos);
}

TEST_F(JoinerTest, WhoHearsNobodyEndsInTime) {
  wait(seconds(29));
  EXPECT_FALSE(outcome_.has_value());
  wait(seconds(2));
  ASSERT_TRUE(outcome_.has_value());
  EXPECT_EQ(outcome_->status.code(), StatusCode::kUnavailable);
}

TEST_F(JoinerTest, AMemberThatCannotServeYetIsNoReasonToWaitForLonger) {
  for (int i = 0; i < 100 && !outcome_; ++i) {
    answer({unavailable("n1 is opening its store"), {}, {}});
    wait(seconds(1));
  }
  EXPECT_TRUE(outcome_.has_value());
}

// For hours; and whoever reads the log sees why, not every second.
TEST_F(JoinerTest, WhoIsToldToWaitWaitsAsLongAsMembersSaySo) {
  for (int i = 0; i < 600; ++i) {
    answer(not_yet("a plan must take it in"));
    wait(seconds(2));
  }
  EXPECT_FALSE(outcome_.has_value());
  EXPECT_GE(said_.info.size(), 10U);
  EXPECT_LE(said_.info.size(), 21U) << "once a minute";
  EXPECT_NE(said_.info[0].find("n3 waits to join: a plan must take it in"), std::string::npos)
      << said_.info[0];

  answer(not_yet("another change is under way"));
  wait(seconds(2));
  EXPECT_NE(said_.info.back().find("another change"), std::string::npos) << "news is said at once";
  wait(seconds(31));
  EXPECT_TRUE(outcome_.has_value()) << "nobody is heard any more";
}

}  // namespace
}  // namespace ringkv
