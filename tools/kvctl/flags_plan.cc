#include <charconv>

#include "ringkv/text.h"
#include "tools/kvctl/verb_flags.h"

namespace ringkv::tools {
namespace {

template <class Number>
Number number_of(const std::string& what, const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read_to != end)
    throw CLI::ValidationError(what, "'" + escaped(text) + "' isn't a number");
  return number;
}

}  // namespace

void CommandLine::add_plan() {
  CLI::App& plan =
      verb(app_, "plan", "Changes who owns what: first a draft, then its forecast, then it begins",
           "kvctl plan join n4 && kvctl plan commit && kvctl wait joined");
  plan.require_subcommand(0, 1);
  add_planning(plan);

  CLI::App& show = verb(plan, "show", "What is planned or under way, what it moves and how far it has come",
                        "kvctl plan show --json");
  when_given(show, [this, &show]() -> Verb {
    (void)words(show);
    return ShowPlanVerb{};
  });

  CLI::App& commit = verb(plan, "commit", "Begins just what is planned", "kvctl plan commit");
  add_words(
      commit,
      {{"EPOCH", "Only what `kvctl plan show` has shown for this epoch (default the present one)", true}});
  when_given(commit, [this, &commit]() -> Verb {
    const auto typed = words(commit);
    if (typed.empty()) return CommitPlanVerb{};
    return CommitPlanVerb{number_of<uint64_t>("EPOCH", typed[0])};
  });

  CLI::App& cancel =
      verb(plan, "cancel",
           "Drops what is planned, or takes a change back that is begun and not switched yet; where there is "
           "neither, forgets the nodes that wait to join (who still asks is soon back)",
           "kvctl plan cancel");
  when_given(cancel, [this, &cancel]() -> Verb {
    (void)words(cancel);
    return CancelPlanVerb{};
  });
}

void CommandLine::add_planning(CLI::App& plan) {
  const Word name{"NAME", "The member's name"};

  CLI::App& join = verb(plan, "join", "Nodes that wait (kvnode --plan-only) become members, all at once",
                        "kvctl plan join n4 n5");
  CLI::Option* joiners = join.add_option_function<std::vector<std::string>>(
                                 "NAME", [](const std::vector<std::string>&) {}, "The nodes' names")
                             ->type_name("");
  when_given(join, [joiners]() -> Verb {
    if (joiners->count() == 0) throw CLI::RequiredError("NAME");
    PlanVerb verb;
    for (const std::string& joiner : joiners->results()) verb.steps.emplace_back(PlanJoin{joiner});
    return verb;
  });

  CLI::App& leave = verb(plan, "leave", "A member's copies move to the others; then it is no member any more",
                         "kvctl plan leave n3");
  add_words(leave, {name});
  leave.add_flag("--force", force_leave_, "Also when it is down: what only its disk has is lost");
  when_given(leave, [this, &leave]() -> Verb {
    return PlanVerb{{PlanLeave{words(leave)[0], force_leave_}}};
  });

  CLI::App& replace =
      verb(plan, "replace", "A node that waits takes the place of a member that is gone for good",
           "kvctl plan replace n3 n6");
  add_words(replace, {{"OLD", "The member that is gone"}, {"NEW", "The node that waits"}});
  replace.add_flag("--force", force_replacement_, "Also when OLD is up");
  when_given(replace, [this, &replace]() -> Verb {
    const auto typed = words(replace);
    return PlanVerb{{PlanReplace{typed[0], typed[1], force_replacement_}}};
  });

  CLI::App& weight = verb(plan, "weight", "A member's share of all copies, against the others' weights",
                          "kvctl plan weight n2 2");
  add_words(weight, {name, {"W", "Above 0, at most 100"}});
  when_given(weight, [this, &weight]() -> Verb {
    const auto typed = words(weight);
    return PlanVerb{{PlanWeight{typed[0], number_of<double>("W", typed[1])}}};
  });

  CLI::App& rack = verb(plan, "rack", "A member stands in another rack from now on", "kvctl plan rack n2 b");
  add_words(rack, {name, {"R", "The rack"}});
  when_given(rack, [this, &rack]() -> Verb {
    const auto typed = words(rack);
    return PlanVerb{{PlanRack{typed[0], typed[1]}}};
  });

  CLI::App& replicas = verb(plan, "replicas", "Copies of each key", "kvctl plan replicas 5");
  add_words(replicas, {{"N", "How many"}});
  when_given(replicas, [this, &replicas]() -> Verb {
    return PlanVerb{{PlanReplicas{number_of<uint32_t>("N", words(replicas)[0])}}};
  });

  CLI::App& move =
      verb(plan, "move", "One partition goes to a member (balanced placer only)", "kvctl plan move 17 n2");
  add_words(move, {{"PARTITION", "Its number (kvctl explain KEY)"}, {"NODE", "The member's name"}});
  when_given(move, [this, &move]() -> Verb {
    const auto typed = words(move);
    return PlanVerb{{PlanMove{number_of<uint32_t>("PARTITION", typed[0]), typed[1]}}};
  });
}

}  // namespace ringkv::tools
