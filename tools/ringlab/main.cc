// ringlab: measures ways of mapping keys to nodes.
#include <fstream>
#include <iostream>

#include "tools/ringlab/flags.h"
#include "tools/ringlab/svg.h"

namespace ringkv::ringlab {
namespace {

constexpr int kFailed = 3;

int run(int argc, char** argv) {
  const auto parsed = parse_flags(argc, argv);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  const auto& command = std::get<Command>(parsed);
  Progress progress(std::cerr);
  const Report report = command.experiment->run(command.settings, progress);
  std::cout << (command.json ? to_json(report) : to_text(report)) << std::flush;
  if (command.plot.empty()) return 0;
  std::ofstream file(command.plot, std::ios::binary);
  file << to_svg(report.charts) << std::flush;
  if (file) return 0;
  std::cerr << "ringlab: can't write " << command.plot << '\n';
  return kFailed;
}

}  // namespace
}  // namespace ringkv::ringlab

int main(int argc, char** argv) { return ringkv::ringlab::run(argc, argv); }
