// What a client says of a request that its caller can't know: its subject, what may have become of it, and
// how to learn.
#pragma once

#include <string>
#include <string_view>

#include "base/client_message.h"
#include "base/time.h"
#include "ringkv/status.h"

namespace ringkv {

// nullptr: it isn't about one key.
const std::string* key_of(const ClientRequest& request);

// A change that has no name by which it could be repeated.
bool is_nameless_change(const ClientRequest& request);

// Asking twice does no harm.
bool is_read(const ClientRequest& request);

// "key 'a': ", "bucket 'b': " or "".
std::string subject_of(const ClientRequest& request);

// "5 s", "1500 ms".
std::string text_of(Duration duration);

// It can be tried again anywhere, as if for the first time.
bool says_nothing_was_written(const Status& status);

// UNKNOWN_OUTCOME, with the name by which the operation can be repeated.
Status unknown_put(const ClientRequest& request, std::string_view why);
Status unknown_change(const ClientRequest& request, std::string_view why);

}  // namespace ringkv
