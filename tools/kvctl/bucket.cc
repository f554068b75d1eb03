#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {

int run(Session& session, const CreateBucketVerb& verb) {
  const Status status = session.admin().create_bucket(verb.bucket);
  return status.ok() ? kDone : fail(status);
}

int run(Session& session, const ChangeBucketVerb& verb) {
  const Status status = session.admin().change_bucket(verb.name, verb.change);
  return status.ok() ? kDone : fail(status);
}

int run(Session& session, const ListBucketsVerb&) {
  const Result<std::vector<BucketInfo>> buckets = session.admin().buckets();
  if (!buckets.ok()) return fail(buckets.status());
  write_out(session.target().json ? to_json(*buckets) + '\n' : to_text(*buckets));
  return kDone;
}

}  // namespace ringkv::tools
