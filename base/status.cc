#include "ringkv/status.h"

namespace ringkv {

std::string_view name_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kTooLarge:
      return "TOO_LARGE";
    case StatusCode::kUnavailable:
      return "UNAVAILABLE";
    case StatusCode::kUnknownOutcome:
      return "UNKNOWN_OUTCOME";
    case StatusCode::kOverloaded:
      return "OVERLOADED";
    case StatusCode::kTooManySiblings:
      return "TOO_MANY_SIBLINGS";
    case StatusCode::kStaleEpoch:
      return "STALE_EPOCH";
    case StatusCode::kForbidden:
      return "FORBIDDEN";
    case StatusCode::kCorruption:
      return "CORRUPTION";
    case StatusCode::kOutOfSpace:
      return "OUT_OF_SPACE";
  }
  return "UNKNOWN_CODE";
}

std::string Status::to_string() const {
  if (ok()) return "OK";
  return std::string(name_of(code_)) + ": " + message_;
}

}  // namespace ringkv
