#include <functional>

#include "ringkv/text.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

// Asks one member itself.
class MemberAsker {
 public:
  explicit MemberAsker(const Target& target) : target_(target) {}

  Status ask(const MemberInfo& member, const std::function<Status(Admin&)>& question) const {
    if (member.client_address.empty()) return unavailable(member.name + ": no client address of it is known");
    ClientOptions options;
    options.nodes = {member.client_address};
    options.route = false;
    const Result<std::unique_ptr<Client>> client = Client::connect(options);
    if (!client.ok()) return named(member, client.status());
    Admin admin(**client, target_.timeout);
    return named(member, question(admin));
  }

 private:
  static Status named(const MemberInfo& member, const Status& status) {
    return status.ok() ? status : Status(status.code(), member.name + ": " + status.message());
  }

  const Target& target_;
};

Result<MemberInfo> member_by_name(const ClusterStatus& status, const std::string& name) {
  std::vector<std::string> names;
  for (const MemberInfo& member : status.members) {
    if (member.name == name) return member;
    names.push_back(member.name);
  }
  const auto meant = nearest(name, names);
  return invalid_argument("no member is called '" + escaped(name) + "'" +
                          (meant ? "; did you mean " + *meant + "?" : ""));
}

using Question = std::function<Status(Admin&, const std::string& peer)>;

struct Pair {
  std::string one;
  std::string other;
};

// Asks both: either alone would do for a drop, and when one is down nothing more can be done for it. What a
// member refuses is an error, and so is that neither answers.
int ask_both(Session& session, const Pair& pair, const Question& question) {
  if (pair.one == pair.other)
    return fail(invalid_argument("'" + escaped(pair.one) + "' can't be cut off from itself"));
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  const Result<MemberInfo> one = member_by_name(*status, pair.one);
  if (!one.ok()) return fail(one.status());
  const Result<MemberInfo> other = member_by_name(*status, pair.other);
  if (!other.ok()) return fail(other.status());

  const MemberAsker asker(session.target());
  const Status first = asker.ask(*one, [&](Admin& admin) { return question(admin, pair.other); });
  const Status second = asker.ask(*other, [&](Admin& admin) { return question(admin, pair.one); });
  for (const Status& answer : {first, second}) {
    if (!answer.ok() && answer.code() != StatusCode::kUnavailable) return fail(answer);
  }
  if (!first.ok() && !second.ok()) return fail(first);
  if (!first.ok()) complain(first.message() + "; only " + pair.other + " was told");
  if (!second.ok()) complain(second.message() + "; only " + pair.one + " was told");
  return kDone;
}

}  // namespace

int run(Session& session, const DropTrafficVerb& verb) {
  return ask_both(session, {verb.one, verb.other},
                  [](Admin& admin, const std::string& peer) { return admin.drop_traffic(peer); });
}

int run(Session& session, const DelayTrafficVerb& verb) {
  return ask_both(session, {verb.one, verb.other}, [&verb](Admin& admin, const std::string& peer) {
    return admin.delay_traffic(peer, verb.delay);
  });
}

int run(Session& session, const SkewClockVerb& verb) {
  const Status skewed = session.admin().skew_clock(verb.node, verb.offset);
  return skewed.ok() ? kDone : fail(skewed);
}

// A member that is down has no faults left: they end with its process.
int run(Session& session, const HealTrafficVerb&) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  const MemberAsker asker(session.target());
  int exit_code = kDone;
  for (const MemberInfo& member : status->members) {
    const Status healed = asker.ask(member, [](Admin& admin) { return admin.heal_traffic(); });
    if (healed.ok()) continue;
    const int code = fail(healed);
    if (healed.code() != StatusCode::kUnavailable) exit_code = code;
  }
  return exit_code;
}

}  // namespace ringkv::tools
