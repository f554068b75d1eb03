#include "tools/kvctl/session.h"

#include <iostream>
#include <regex>

namespace ringkv::tools {

ExitCode exit_code_of(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kDone;
    case StatusCode::kNotFound:
      return kNotFound;
    case StatusCode::kInvalidArgument:
    case StatusCode::kTooLarge:
      return kWrongUse;
    case StatusCode::kUnknownOutcome:
      return kUnknown;
    case StatusCode::kForbidden:
      return kForbidden;
    case StatusCode::kUnavailable:
    case StatusCode::kOverloaded:
    case StatusCode::kTooManySiblings:
    case StatusCode::kStaleEpoch:
    case StatusCode::kCorruption:
    case StatusCode::kOutOfSpace:
      return kFailed;
  }
  return kFailed;
}

void complain(const std::string& message) { std::cerr << "kvctl: " << message << '\n'; }

int fail(const Status& status) {
  complain(status.to_string());
  if (status.code() == StatusCode::kUnknownOutcome) {
    static const std::regex operation("[0-9a-f]+\\.[0-9]+@[0-9a-f]+");
    std::smatch match;
    if (std::regex_search(status.message(), match, operation))
      complain("it may have been written; the same command with --op-id " + match.str() +
               " tells or repeats it");
  }
  return exit_code_of(status);
}

Result<Session> Session::open(const Target& target) {
  ClientOptions options;
  options.nodes = target.nodes;
  options.route = false;  // the node that was named serves, whatever it knows
  Result<std::unique_ptr<Client>> client = Client::connect(options);
  if (client.ok()) return Session(target, *std::move(client));
  if (client.status().code() != StatusCode::kUnavailable) return client.status();
  std::string nodes;
  for (const std::string& node : target.nodes) nodes += (nodes.empty() ? "" : ", ") + node;
  return unavailable("no node answers at " + nodes + " (" + client.status().message() +
                     ")\nTo start one: kvnode --dev (a single node to try), or tools/quickstart; "
                     "to ask another one: --node HOST:PORT");
}

PutOptions Session::put_options() const {
  PutOptions options;
  options.bucket = target_.bucket;
  options.timeout = target_.timeout;
  return options;
}

GetOptions Session::get_options() const {
  GetOptions options;
  options.bucket = target_.bucket;
  options.timeout = target_.timeout;
  return options;
}

ScanOptions Session::scan_options() const {
  ScanOptions options;
  options.bucket = target_.bucket;
  options.timeout = target_.timeout;
  return options;
}

}  // namespace ringkv::tools
