// Questions that every member answers for itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ringkv/admin.h"
#include "tools/kvctl/session.h"

namespace ringkv::tools {

// Of a question to all members: each is asked through the one node that the session is with.
struct MemberAnswers {
  Status status;                     // of the ring's members themselves
  std::vector<std::string> unknown;  // "n3: can't be reached": those that gave no answer
  bool all() const { return status.ok() && unknown.empty(); }
};

// `ask` gets each member's name; what it returns says whether there was an answer. On a terminal one line
// says who is being asked `to` do what.
MemberAnswers ask_all(Session& session, const std::string& to,
                      const std::function<Status(const MemberInfo&)>& ask);

std::string listed(const std::vector<std::string>& names);

// The hints of the whole cluster.
struct AllHints {
  MemberAnswers answers;
  std::vector<HintInfo> peers;
  uint64_t hints = 0;
  uint64_t bytes = 0;
};
AllHints all_hints(Session& session);

// What all members found when each compared itself with all others.
struct AllRepairs {
  MemberAnswers answers;
  RepairReport sum;
  std::vector<std::string> differing;  // members that found something, with how many keys
};
AllRepairs repair_all(Session& session, const RepairVerb& verb);

// What stands against it being true; "" nothing.
std::string missing_for_hints_drained(Session& session);
std::string missing_for_converged(Session& session);

}  // namespace ringkv::tools
