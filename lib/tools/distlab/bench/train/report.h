// The figures of bench train as a table and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "distlab/bench/train/options.h"
#include "distlab/bench/train/turn.h"

namespace distlab::bench {

// Medians of all turns, the last loss and the largest peak.
struct TrainRun {
  TrainBenchOptions options;
  std::string model;  // "GPT(4 layers, ...)"
  std::int64_t parameters = 0;
  int steps = 0;  // per turn
  TrainTurn ours, theirs;
  double graphs_alone = 0;       // seconds of the step's graphs on a GPU; 0: not measured
  std::string peer_title, blas;  // empty: not compared
};

// Tokens or images.
double per_second(const TrainRun& run, const TrainTurn& turn);
// Our rate divided by PyTorch's.
double ratio(const TrainRun& run);
// Our step divided by its graphs alone; 0: not measured.
double ratio_to_graphs(const TrainRun& run);

std::string as_text(const TrainRun& run);
std::string as_json(const TrainRun& run);

}  // namespace distlab::bench
