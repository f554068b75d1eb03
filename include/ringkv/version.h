// Which ringkv this is.
#pragma once

namespace ringkv {

const char* version();  // "0.1.0"
const char* commit();   // the commit it was built from, or "unknown"

}  // namespace ringkv
