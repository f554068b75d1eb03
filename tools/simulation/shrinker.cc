#include "tools/simulation/shrinker.h"

#include <sstream>
#include <utility>

namespace ringkv::simulation {
namespace {

Items names_of(const std::vector<Happening>& happenings) {
  Items names;
  for (const Happening& happening : happenings) names.push_back(happening.name);
  return names;
}

std::string joined(const Items& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text.empty() ? "none" : text;
}

Items words_of(const std::string& faults) {
  if (faults == "all") return fault_names();
  if (faults == "none") return {};
  Items words;
  std::istringstream list(faults);
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

}  // namespace

Shrinker::Shrunk Shrinker::shrink(const SimulationSettings& settings, const std::string& faults,
                                  const SimulationResult& failed) {
  best_ = {faults, settings, failed, 0};
  shrink_kinds();
  shrink_strikes();
  shrink_operations();
  // Each without what the others had hidden.
  shrink_strikes();
  shrink_kinds();
  return best_;
}

bool Shrinker::still_fails(SimulationSettings settings, const std::string& faults) {
  if (std::chrono::steady_clock::now() >= give_up_at_) return false;
  ++best_.runs;
  SimulationResult result = simulate_(settings);
  if (!result.violation || result.violation->invariant != best_.result.violation->invariant) return false;
  best_.faults = faults;
  best_.settings = std::move(settings);
  best_.result = std::move(result);
  return true;
}

void Shrinker::shrink_kinds() {
  fewest(words_of(best_.faults), [this](const Items& words) {
    SimulationSettings settings = best_.settings;
    settings.faults = *faults_from(joined(words));
    return still_fails(std::move(settings), joined(words));
  });
}

void Shrinker::shrink_strikes() {
  fewest(names_of(best_.result.strikes), [this](const Items& names) {
    SimulationSettings settings = best_.settings;
    settings.only_faults = Names(names.begin(), names.end());
    return still_fails(std::move(settings), best_.faults);
  });
}

void Shrinker::shrink_operations() {
  fewest(names_of(best_.result.operations_asked), [this](const Items& numbers) {
    SimulationSettings settings = best_.settings;
    settings.only_operations.emplace();
    for (const std::string& number : numbers) settings.only_operations->insert(std::stoull(number));
    return still_fails(std::move(settings), best_.faults);
  });
}

}  // namespace ringkv::simulation
