// The results of ./distlab sim about collectives, as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "dist/simulate/simulate_collective.h"

namespace distlab {

struct SimResult {
  dist::sim::CollectiveRun run;
  dist::sim::CollectiveCost cost;
};

void print_header();
// Prints the row, then the errors of ranks, and the busiest links if they were asked for.
void print(const SimResult& result);
// Writes one object, or a list of several, to a file or, with "-", to standard output. Throws Error{resource}
// when it cannot be written.
void write_json(const std::string& path, const std::vector<SimResult>& results, const std::string& topology);

}  // namespace distlab
