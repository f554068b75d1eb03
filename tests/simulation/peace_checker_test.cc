#include "tools/simulation/peace_checker.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

// The last looks at a ring of three nodes that holds one key with three copies.
class Peace : public testing::Test {
 protected:
  void answer(const ClientRequest::Body& asked, const ClientReply::Body& body, const Status& status = {}) {
    Operation operation;
    operation.request = {asked, seconds(5)};
    const OperationIndex index = history.invoke(operation, Time());
    history.complete(index, {status, body, 1, Boot{1}, {}}, Time());
  }
  void get(const std::vector<std::string>& values, bool unconfirmed = false) {
    GetResult result;
    result.values = values;
    result.unconfirmed = unconfirmed;
    answer(ClientGet{"", "k", 0, true}, result);
  }
  void copy(const std::string& node, const std::string& value) {
    VersionInfo version;
    version.value = value;
    version.dot = "1-1:1";
    answer(ClientLocalGet{node, "", "k"}, LocalRecord{true, {version}, Context()});
  }
  void three_copies() {
    for (const std::string node : {"n1", "n2", "n3"}) copy(node, "a");
  }
  void status(uint64_t epoch, const std::string& state = "up") {
    MemberInfo member;
    member.name = "n1";
    member.state = state;
    ClusterStatus status;
    status.epoch = epoch;
    status.members = {member};
    answer(ClientStatus(), status);
  }
  std::string verdict() const {
    const auto violation = check_peace(history, 0, {.copies = 3, .lww_bucket = "lww"});
    return violation ? violation->invariant : "";
  }

  History history;
};

TEST_F(Peace, IsKeptWhenAllAgree) {
  get({"a", "b"});
  get({"b", "a"});
  three_copies();
  answer(ClientLocalGet{"n4", "", "k"}, LocalRecord());
  status(3);
  status(3);
  EXPECT_EQ(verdict(), "");
}

TEST_F(Peace, IsBrokenByARequestThatFails) {
  answer(ClientGet{"", "k", 0, true}, {}, unavailable("no quorum"));
  EXPECT_EQ(verdict(), "L6");
}

TEST_F(Peace, IsBrokenByAnUnconfirmedAnswer) {
  get({"a"}, true);
  EXPECT_EQ(verdict(), "L6");
}

TEST_F(Peace, IsBrokenByAnswersThatDiffer) {
  get({"a"});
  get({"b"});
  EXPECT_EQ(verdict(), "L3");
}

TEST_F(Peace, IsBrokenByCopiesThatDifferOrAreMissing) {
  three_copies();
  EXPECT_EQ(verdict(), "");
  copy("n4", "a");
  EXPECT_EQ(verdict(), "L3");
  history = {};
  copy("n1", "a");
  copy("n2", "a");
  copy("n3", "b");
  EXPECT_EQ(verdict(), "L3");
}

TEST_F(Peace, IsBrokenByANodeThatIsCalledDown) {
  status(3, "down");
  EXPECT_EQ(verdict(), "L1");
}

TEST_F(Peace, IsBrokenByDifferentEpochs) {
  status(3);
  status(4);
  EXPECT_EQ(verdict(), "L1");
}

}  // namespace
}  // namespace ringkv::simulation
