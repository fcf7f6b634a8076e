#include "dist/simulate/explore.h"

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/sim/choices.h"
#include "dist/simulate/simulation.h"

namespace dist::sim {
namespace {

// The next list in depth-first order; empty if there is none.
std::vector<int> next_list(const std::vector<Choices::Taken>& taken) {
  std::vector<int> list;
  for (const auto& [choice, of] : taken) list.push_back(choice);
  while (!list.empty()) {
    if (list.back() + 1 < taken[list.size() - 1].of) {
      ++list.back();
      return list;
    }
    list.pop_back();
  }
  return list;
}

}  // namespace

Exploration explore(const RunOptions& options, const std::function<void(int rank)>& fn,
                    const ExploreOptions& how) {
  if (how.runs < 1)
    fail(Errc::invalid_argument, "sim::explore: {} runs were asked for; at least one is needed", how.runs);
  if (!options.seed.empty())
    fail(Errc::invalid_argument, "sim::explore: it chooses the seeds itself; run() takes \"{}\"",
         options.seed);
  Exploration found;
  // Returns whether all went well.
  const auto run = [&](Choices* choices, const std::string& seed) {
    ++found.runs;
    Report report = simulate(options, fn, choices);
    if (report.ok()) return true;
    found.seed = seed.empty() && choices != nullptr ? choices->str() : seed;
    found.wrong = std::move(report);
    return false;
  };
  if (!run(nullptr, "")) return found;
  std::vector<int> list;
  for (int i = 1; i < how.runs; ++i) {
    const std::string seed = std::to_string(i);
    Choices choices = how.search == Search::seeds ? Choices(seed) : Choices(list);
    if (!run(&choices, how.search == Search::seeds ? seed : "")) return found;
    if (how.search == Search::seeds) continue;
    list = next_list(choices.taken());
    if (list.empty()) {
      found.complete = true;
      return found;
    }
  }
  return found;
}

std::string Exploration::text() const {
  if (wrong && seed.empty()) return wrong->text();  // no exploration was needed
  if (wrong) return fmt::format("seed {} (run {}) goes wrong:\n{}", seed, runs, wrong->text());
  return complete ? fmt::format("no finding in any of the {} possible schedules\n", runs - 1)
                  : fmt::format("no finding in {}; there are more\n", counted(runs, "schedule"));
}

}  // namespace dist::sim
