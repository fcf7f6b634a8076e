// Lab 17: what all parts share.
#include "support.h"

#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lab17 {
namespace {

void diagnose(const dist::check::Finding& finding) {
  using dist::check::Code;
  bool in_new_group = finding.what.find("new_group") != std::string::npos;
  for (const auto& party : finding.parties)
    in_new_group = in_new_group || party.doing.find("new_group") != std::string::npos;
  if (in_new_group) {
    judge::misconception(
        "groups_made_differently",
        "the ranks do not make the same groups in the same order, but new_group is a call of "
        "all ranks, members or not; fix: let every rank make every line, in one fixed order");
  } else if (finding.code == Code::deadlock || finding.code == Code::mismatched_collective) {
    judge::misconception(
        "a_rank_stays_away",
        "the ranks of a group do not make the same calls; fix: a rank that has nothing to add "
        "takes part, with zeros");
  }
}

}  // namespace

Grid draw_grid(judge::Random& random, const Ints& sizes, bool shuffled) {
  Grid grid{{"dp", "fsdp", "cp", "tp", "pp", "ep"}, sizes, {}};
  random.shuffle(grid.names);
  grid.names.resize(sizes.size());
  const int count = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
  for (int rank = 0; rank < count; ++rank) grid.ranks.push_back(rank);
  if (!shuffled) return grid;
  for (int& rank : grid.ranks) rank = 3 * rank + random.between(1, 3);
  do random.shuffle(grid.ranks);
  while (count > 2 && std::ranges::is_sorted(grid.ranks));
  return grid;
}

std::string text(const Grid& grid) {
  std::string all;
  for (std::size_t axis = 0; axis < grid.names.size(); ++axis)
    all += fmt::format("{}{}={}", axis == 0 ? "" : ", ", grid.names[axis], grid.sizes[axis]);
  return all;
}

Json as_json(const Grid& grid) {
  return {{"names", grid.names}, {"sizes", grid.sizes}, {"ranks", grid.ranks}};
}

std::string in_braces(const Ints& numbers) { return fmt::format("{{{}}}", fmt::join(numbers, ", ")); }

Ints sorted(Ints numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

Ints reversed(Ints numbers) {
  std::ranges::reverse(numbers);
  return numbers;
}

judge::SimRun run(const std::vector<Json>& tasks, const std::string& about) {
  judge::SimPlan plan;
  plan.tasks = tasks;
  plan.trace = true;
  plan.about = about;
  return judge::simulate(plan);
}

std::vector<Json> answers(const judge::SimRun& run) {
  for (const auto& finding : run.report.findings) diagnose(finding);
  return run.answers({"new_group", "split_group", "all_reduce"});
}

std::vector<Reduction> reductions(const judge::SimRun& run, int rank) {
  std::vector<Reduction> all;
  for (const auto& event : run.report.trace.events)
    if (event.kind == dist::trace::Kind::call && event.rank == rank && event.name == "all_reduce")
      all.push_back({event.group, event.bytes});
  return all;
}

bool are_near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

double number_of(const Json& bits) { return std::bit_cast<double>(bits.get<std::uint64_t>()); }

}  // namespace lab17
