// The whole program of kvsim.
#pragma once

namespace ringkv::simulation {

// The exit code: 0 when every run kept every promise, 1 when one was broken, 2 for wrong use.
int run_seeds(int argc, const char* const* argv);

}  // namespace ringkv::simulation
