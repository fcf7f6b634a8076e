#include "distlab/bench/row.h"

#include <algorithm>

#include "distlab/bench/statistics.h"

namespace distlab::bench {

Times times_of(const std::vector<double>& repetitions) {
  const auto [least, most] = std::ranges::minmax(repetitions);
  return {median(repetitions), least, most};
}

double algbw(const Row& row) { return static_cast<double>(row.bytes) / row.ours.median; }

double busbw(const Row& row, const Run& run) {
  return algbw(row) * bus_factor(run.plan.collective, run.plan.ranks);
}

double ratio(const Row& row) { return row.peer ? row.peer->median / row.ours.median : 0; }

double percent_of_limit(const Row& row) { return 100 * row.limit_s / row.ours.median; }

double limit_seconds(const Run& run, Form form, std::int64_t bytes) {
  const double traffic =
      least_traffic(run.plan.collective, form, run.plan.ranks) * static_cast<double>(bytes);
  const double memory = run.bandwidth > 0 ? traffic / run.bandwidth : 0;
  return meets(run.plan.collective) ? std::max(memory, run.meeting) : memory;
}

}  // namespace distlab::bench
