// What choose() chooses for a machine, against the best that the simulator finds there.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate_collective.h"

#include "formulas.h"

namespace dist::test {
namespace {

using sim::CollectiveRun;

bool is_considered(const std::string& algorithm) {
  constexpr std::array not_chosen{
      "naive_exchange", "parameter_server", "reduce_broadcast", "one_shot", "two_shot", "direct", "sharp"};
  return std::ranges::find(not_chosen, algorithm) == not_chosen.end();
}

// How many times as long as the best one the chosen algorithm takes.
double regret(OpKind collective, int ranks, std::int64_t bytes, const sim::Topology& topology) {
  const auto seconds = [&](const std::string& algorithm) {
    return sim::simulate_collective(CollectiveRun{collective, algorithm, ranks, bytes}, topology)
        .virtual_time_s;
  };
  const double chosen = seconds("");
  double best = chosen;
  for (const auto& algorithm : sim::simulated_algorithms(collective, topology))
    if (is_considered(algorithm)) best = std::min(best, seconds(algorithm));
  return chosen / best;
}

class Choice : public testing::TestWithParam<const char*> {};

TEST_P(Choice, IsNearlyTheBestOnThatMachine) {
  const sim::Topology topology = sim::load_topology(GetParam());
  for (const auto collective :
       {OpKind::all_reduce, OpKind::broadcast, OpKind::reduce, OpKind::all_gather, OpKind::reduce_scatter}) {
    double logarithms = 0;
    int cases = 0;
    for (const int ranks : {2, 3, 6, 8, 12, 24, 32, 48, 64}) {
      if (slow_build && ranks > 12) continue;
      for (const std::int64_t bytes : {8, 16 << 10, 256 << 10, 1 << 20, 64 << 20}) {
        const double times = regret(collective, ranks, bytes, topology);
        EXPECT_LE(times, 3.5) << name(collective) << " of " << bytes << " bytes on " << ranks << " ranks";
        logarithms += std::log(times);
        ++cases;
      }
    }
    EXPECT_LE(std::exp(logarithms / cases), 1.15) << name(collective);
  }
}

std::string in_words(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machines, Choice,
                         testing::Values("laptop", "10gbe", "dgx-a100-hdr", "dgx-h100-ndr", "summit"),
                         in_words);

}  // namespace
}  // namespace dist::test
