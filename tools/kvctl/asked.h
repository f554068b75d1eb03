// One question to every member, each of which answers for itself.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ringkv/admin.h"
#include "tools/kvctl/member_progress.h"

namespace ringkv::tools {

struct Unanswered {
  std::string member;
  Status why;
};

template <class R>
struct Asked {
  using Report = R;
  struct Answer {
    std::string member;
    Report report;
  };

  std::vector<Answer> answers;
  std::vector<Unanswered> unanswered;
};

// One after the other: what is asked for is work. `ask` takes a member's name and returns a Result.
template <class Ask>
auto ask_each(const std::vector<MemberInfo>& members, const Ask& ask, MemberProgress& progress) {
  Asked<std::decay_t<decltype(*ask(std::string()))>> asked;
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string& name = members[i].name;
    progress.begin(name, {.number = i + 1, .of = members.size()});
    auto report = ask(name);
    if (report.ok()) {
      asked.answers.push_back({name, *std::move(report)});
    } else {
      asked.unanswered.push_back({name, report.status()});
    }
  }
  progress.end();
  return asked;
}

// Where it is quick.
template <class Ask>
auto ask_each(const std::vector<MemberInfo>& members, const Ask& ask) {
  MemberProgress nothing_shown;
  return ask_each(members, ask, nothing_shown);
}

}  // namespace ringkv::tools
