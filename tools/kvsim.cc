// kvsim: a whole ring in one process on virtual time, network and disks, each run from one seed.
#include "ringkv/simulation.h"

int main(int argc, char** argv) { return ringkv::simulation::run_seeds(argc, argv, nullptr); }
