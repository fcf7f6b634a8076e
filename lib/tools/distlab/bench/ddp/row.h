// One measured number of ranks, and what follows from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "distlab/bench/ddp/options.h"

namespace distlab::bench {

// Seconds of a step; medians.
struct DdpRow {
  int ranks = 0, steps = 0;  // of a turn
  double step = 0;
  double exposed = 0;        // in it
  double compute = 0;        // the model alone, on all ranks at once
  double communication = 0;  // the all-reduces alone
  double peer = 0;           // PyTorch's step; 0: not measured
};

struct DdpRun {
  DdpBenchOptions options;
  int cores = 0;
  std::string peer_title;  // empty: none
  std::vector<DdpRow> rows;
};

// What a step that overlaps well takes at most: a tenth and a millisecond more than the longer of its two
// parts.
inline double bound(const DdpRow& row) {
  constexpr double share = 1.1, millisecond = 1e-3;
  return share * std::max(row.compute, row.communication) + millisecond;
}
inline double images_per_second(const DdpRun& run, const DdpRow& row, double step) {
  return static_cast<double>(run.options.batch_size) * row.ranks / step;
}
// Images a second against as many times those of the first row, which has one rank.
inline double scaling(const DdpRun& run, const DdpRow& row) { return run.rows.front().step / row.step; }
// Times as many images a second as the peer; 0 without one.
inline double ratio(const DdpRow& row) { return row.peer / row.step; }

}  // namespace distlab::bench
