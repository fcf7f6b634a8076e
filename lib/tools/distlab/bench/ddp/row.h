// The times of one number of ranks, and what follows from them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "distlab/bench/ddp/options.h"

namespace distlab::bench {

// Median seconds of a step.
struct DdpRow {
  int ranks = 0, steps = 0;  // steps per turn
  double step = 0;
  double exposed = 0;        // communication that is part of `step`
  double compute = 0;        // the model alone, on all ranks at the same time
  double communication = 0;  // the all-reduces alone
  double peer = 0;           // PyTorch's step; 0: not measured
  double graphs = 0;         // a step's graphs alone, on all ranks at the same time; 0: not measured
};

struct DdpRun {
  DdpBenchOptions options;
  int cores = 0;
  std::string peer_title;  // empty: none
  std::vector<DdpRow> rows;
};

// Returns what a step that overlaps well takes at most: a tenth and a millisecond more than the longer of its
// two parts.
inline double bound(const DdpRow& row) {
  constexpr double share = 1.1, millisecond = 1e-3;
  return share * std::max(row.compute, row.communication) + millisecond;
}
inline double images_per_second(const DdpRun& run, const DdpRow& row, double step) {
  return static_cast<double>(run.options.batch_size) * row.ranks / step;
}
// Returns images per second, divided by n times those of the first row, which has one rank.
inline double scaling(const DdpRun& run, const DdpRow& row) { return run.rows.front().step / row.step; }
// Returns our images per second, divided by the peer's; 0 without a peer.
inline double ratio(const DdpRow& row) { return row.peer / row.step; }
// Returns our step, divided by its graphs alone; 0 without graphs.
inline double ratio_to_graphs(const DdpRow& row) { return row.graphs > 0 ? row.step / row.graphs : 0; }

}  // namespace distlab::bench
