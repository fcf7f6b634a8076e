// The options of ./distlab bench ddp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace distlab {

struct DdpBenchOptions {
  int ranks = 0;                 // the largest number; 0: one per core, at least two
  std::int64_t batch_size = 64;  // per rank
  std::string device = "cpu";    // or "cuda": ranks have a GPU each, or share them
  bool cut_graphs = false;       // at each all-reduce, even where it could be in the step's graph
  int steps = 0;                 // per turn; 0: as many as take 250 ms
  int repeats = 15;              // turns; their median is reported
  std::string compare;           // "pytorch"; empty: no comparison
  std::string json;              // a file, "-" for standard output; empty: none
  std::filesystem::path plot;    // an SVG file; empty: none
};

// The options of one number of ranks, which is measured in a process of its own.
struct DdpRowOptions {
  DdpBenchOptions bench;
  std::filesystem::path folder;  // for its files; the row is one of them
};

}  // namespace distlab
