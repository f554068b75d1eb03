// What an operation came to. The code says what the caller can do next; the message is for people and names
// the key, node or file and what to do.
//
// Three answers are never mixed up: ok, failed (nothing was written), unknown (it may have been).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ringkv {

enum class StatusCode : uint8_t {
  kOk = 0,
  kNotFound,
  kInvalidArgument,
  kTooLarge,
  kUnavailable,     // nothing was written; try again, or elsewhere
  kUnknownOutcome,  // it may have been written; a retry with the same operation id tells
  kOverloaded,      // nothing was written; slow down
  kTooManySiblings,
  kStaleEpoch,
  kForbidden,
  kCorruption,
  kOutOfSpace,
};

// "UNAVAILABLE" and so on: the names that people and JSON see.
std::string_view name_of(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // "UNAVAILABLE: key 'a': …", or "OK".
  std::string to_string() const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status not_found(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }
inline Status invalid_argument(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}
inline Status too_large(std::string message) { return {StatusCode::kTooLarge, std::move(message)}; }
inline Status unavailable(std::string message) { return {StatusCode::kUnavailable, std::move(message)}; }
inline Status unknown_outcome(std::string message) {
  return {StatusCode::kUnknownOutcome, std::move(message)};
}
inline Status overloaded(std::string message) { return {StatusCode::kOverloaded, std::move(message)}; }
inline Status too_many_siblings(std::string message) {
  return {StatusCode::kTooManySiblings, std::move(message)};
}
inline Status forbidden(std::string message) { return {StatusCode::kForbidden, std::move(message)}; }
inline Status corruption(std::string message) { return {StatusCode::kCorruption, std::move(message)}; }
inline Status out_of_space(std::string message) { return {StatusCode::kOutOfSpace, std::move(message)}; }

// A value, or why there is none. Reading the value of a failed result ends the process.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) {  // NOLINT: an error is a result
    if (status_.ok()) std::abort();
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

 private:
  T& checked() {
    if (!value_) std::abort();
    return *value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace ringkv
