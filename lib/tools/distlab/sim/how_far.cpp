#include "distlab/sim/how_far.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/sim/messages_so_far.h"

#include "distlab/terminal.h"
#include "distlab/waiting.h"

namespace distlab {
namespace {

using dist::sim::CollectiveRun, dist::sim::Topology;

double messages_of(CollectiveRun run, std::int64_t bytes, const Topology& topology) {
  run.bytes = bytes;
  return static_cast<double>(dist::sim::simulate_collective(run, topology).messages);
}

// Returns how many messages the run will have; 0: not known, and probably not many.
double expected_messages(const CollectiveRun& run, const Topology& topology) {
  const double n = run.ranks;
  if (run.collective == dist::OpKind::all_reduce && run.algorithm == "ring") return 2 * n * (n - 1);
  // Segments have a fixed size, so each of these bytes adds the same number of messages.
  constexpr std::int64_t small = 32 << 20, medium = 2 * small, large = 64 * small;
  if (run.bytes < large) return 0;
  const double first = messages_of(run, small, topology), second = messages_of(run, medium, topology);
  return second + (second - first) / (medium - small) * static_cast<double>(run.bytes - medium);
}

}  // namespace

dist::sim::CollectiveCost simulate_and_say_how_far(const CollectiveRun& run, const Topology& topology) {
  if (!stdout_is_terminal()) return dist::sim::simulate_collective(run, topology);
  const auto what = fmt::format("simulating {} on {}", run.algorithm, dist::counted(run.ranks, "rank"));
  Waiting waiting(what);
  const double expected = expected_messages(run, topology);
  const auto before = dist::sim::messages_so_far();
  if (expected > 0)
    waiting.show(what, [=] {
      return std::min(1., static_cast<double>(dist::sim::messages_so_far() - before) / expected);
    });
  return dist::sim::simulate_collective(run, topology);
}

}  // namespace distlab
