#include "tools/kvctl/session.h"

#include <algorithm>
#include <iostream>
#include <regex>
#include <thread>

namespace ringkv::tools {
namespace {

constexpr std::chrono::milliseconds kTryAgainAfter{50};

}  // namespace

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

Result<Session> Session::open(const Target& target, bool routed) {
  ClientOptions options;
  options.route = routed;
  options.nodes = target.nodes;
  const Clock::time_point begun = Clock::now();
  Result<std::unique_ptr<Client>> client = Client::connect(options);
  while (!client.ok() && client.status().code() == StatusCode::kUnavailable &&
         Clock::now() - begun < target.patience) {
    std::this_thread::sleep_for(kTryAgainAfter);
    client = Client::connect(options);
  }
  if (client.ok()) return Session(target, begun, *std::move(client));
  if (client.status().code() != StatusCode::kUnavailable) return client.status();
  std::string nodes;
  for (const std::string& node : target.nodes) nodes += (nodes.empty() ? "" : ", ") + node;
  return unavailable("no node answers at " + nodes + " (" + client.status().message() +
                     ")\nTo start one: kvnode --dev (a single node to try), or tools/quickstart; "
                     "to ask another one: --node HOST:PORT");
}

std::chrono::milliseconds Session::patience_left() const {
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
  return std::max(target_.patience - spent, std::chrono::milliseconds(0));
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
