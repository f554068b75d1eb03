// CHECK: an invariant of ours, on in every build. Never on anything that came from outside the process.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) [[unlikely]] {                                                         \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
