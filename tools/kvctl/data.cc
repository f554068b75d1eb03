#include <fstream>
#include <iostream>
#include <istream>

#include "ringkv/text.h"
#include "tools/common/standard_descriptors.h"
#include "tools/kvctl/json_text.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

// A value from a stream, of which never more is read than could be stored.
Result<std::string> value_from(std::istream& in, const std::string& name) {
  std::string value(kValueBytesMax + 1, '\0');
  in.read(value.data(), static_cast<std::streamsize>(value.size()));
  if (in.bad()) return invalid_argument(name + ": can't be read");
  value.resize(static_cast<size_t>(in.gcount()));
  if (value.size() > kValueBytesMax)
    return too_large(name + ": a value has at most " + human_bytes(kValueBytesMax));
  return value;
}

Result<std::string> value_of(const PutVerb& verb) {
  if (!verb.file.empty()) {
    std::ifstream in(verb.file, std::ios::binary);
    if (!in) return invalid_argument(verb.file + ": can't be opened");
    return value_from(in, verb.file);
  }
  if (verb.value == "-") {
    if (Status status = check_standard_input(); !status.ok()) return status;
    return value_from(std::cin, "standard input");
  }
  return verb.value;
}

// Without a given context r replicas are read first, so that the write replaces what is there, siblings
// included.
PutOptions options_of(const Session& session, const WriteFlags& flags) {
  PutOptions options = session.put_options();
  options.context = flags.context;
  options.read_first = !flags.context;
  options.w = flags.w;
  options.durability = flags.durability;
  options.primary = flags.primary;
  options.ttl = flags.ttl;
  options.operation_id = flags.operation_id;
  return options;
}

int finish_write(const Session& session, const WriteFlags& flags, const Result<PutReceipt>& receipt) {
  if (!receipt.ok()) return fail(receipt.status());
  if (flags.receipt || session.target().json) line_out(to_json(*receipt));
  return kDone;
}

}  // namespace

int run(Session& session, const PutVerb& verb) {
  const Result<std::string> value = value_of(verb);
  if (!value.ok()) return fail(value.status());
  return finish_write(session, verb.write,
                      session.store().put(verb.key, *value, options_of(session, verb.write)));
}

int run(Session& session, const DeleteVerb& verb) {
  const Result<PutReceipt> receipt = session.store().remove(verb.key, options_of(session, verb.write));
  if (receipt.status().code() == StatusCode::kNotFound) return kDone;
  return finish_write(session, verb.write, receipt);
}

int run(Session& session, const GetVerb& verb) {
  GetOptions options = session.get_options();
  options.r = verb.r;
  const Result<GetResult> result = session.store().get(verb.key, options);
  if (!result.ok()) return fail(result.status());
  if (session.target().json) {
    line_out(to_json({.key = verb.key, .bucket = session.target().bucket}, *result));
    return result->found() ? kDone : kNotFound;
  }
  if (!result->found()) return fail(not_found("key " + display_key(verb.key)));
  if (result->values.size() > 1) {
    complain("key " + display_key(verb.key) + " has " + std::to_string(result->values.size()) +
             " concurrent values; kvctl get --json prints them all, and a put replaces them by one");
    return kSeveralValues;
  }
  write_out(result->values.front());
  return kDone;
}

int run(Session& session, const ExistsVerb& verb) {
  GetOptions options = session.get_options();
  options.r = verb.r;
  const Result<bool> exists = session.store().exists(verb.key, options);
  if (!exists.ok()) return fail(exists.status());
  if (session.target().json) line_out(to_json({.key = verb.key, .bucket = session.target().bucket}, *exists));
  return *exists ? kDone : kNotFound;
}

}  // namespace ringkv::tools
