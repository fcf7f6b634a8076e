// What ./distlab sim has found out about collectives: as a table, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "dist/launch/simulate_collective.h"

namespace distlab {

struct SimResult {
  dist::sim::CollectiveRun run;
  dist::sim::CollectiveCost cost;
};

void print_header();
// The row, and below it who got which error, and the busiest links when they were asked for.
void print(const SimResult& result);
// One object, or several as a list, into a file or with "-" to standard output. Error{resource} when it
// cannot be written.
void write_json(const std::string& path, const std::vector<SimResult>& results, const std::string& topology);

}  // namespace distlab
