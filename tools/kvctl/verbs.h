// One function a verb; each returns the exit code.
#pragma once

#include "tools/kvctl/flags.h"
#include "tools/kvctl/session.h"

namespace ringkv::tools {

// Connects and runs the verb.
int run(const Invocation& invocation);

// data.cc
int run(Session& session, const PutVerb& verb);
int run(Session& session, const GetVerb& verb);
int run(Session& session, const DeleteVerb& verb);
int run(Session& session, const ExistsVerb& verb);

// scan.cc
int run(Session& session, const ScanVerb& verb);
int run(Session& session, const DumpVerb& verb);

// load.cc
int run(Session& session, const LoadVerb& verb);

// inspect.cc
int run(Session& session, const LocalGetVerb& verb);
int run(Session& session, const ExplainVerb& verb);
int run(Session& session, const StatusVerb& verb);
int run(Session& session, const RingVerb& verb);
int run(Session& session, const StatsVerb& verb);

// bucket.cc
int run(Session& session, const CreateBucketVerb& verb);
int run(Session& session, const ChangeBucketVerb& verb);
int run(Session& session, const ListBucketsVerb& verb);

// wait.cc
int run(Session& session, const WaitVerb& verb);

// converge.cc
int run(Session& session, const HintsVerb& verb);
int run(Session& session, const LagVerb& verb);
int run(Session& session, const TransfersVerb& verb);
int run(Session& session, const ThrottleVerb& verb);
int run(Session& session, const RepairVerb& verb);
int run(Session& session, const PurgeVerb& verb);
int run(Session& session, const ScrubVerb& verb);

// plan.cc
int run(Session& session, const PlanVerb& verb);
int run(Session& session, const ShowPlanVerb& verb);
int run(Session& session, const CommitPlanVerb& verb);
int run(Session& session, const CancelPlanVerb& verb);

// force.cc
int run(Session& session, const ForceRingVerb& verb);

// fault.cc
int run(Session& session, const DropTrafficVerb& verb);
int run(Session& session, const DelayTrafficVerb& verb);
int run(Session& session, const HealTrafficVerb& verb);
int run(Session& session, const SkewClockVerb& verb);

}  // namespace ringkv::tools
