// What ./distlab bench ddp is asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace distlab {

struct DdpBenchOptions {
  int ranks = 0;                 // the most; 0: one a core, two at least
  std::int64_t batch_size = 64;  // of each rank
  int steps = 0;                 // of a turn; 0: as many as take 250 ms
  int repeats = 15;              // turns, of which the median is taken
  std::string compare;           // "pytorch"; empty: with nobody
  std::string json;              // a file, "-" for standard output; empty: none
  std::filesystem::path plot;    // an SVG file; empty: none
};

// One number of ranks, measured in a process of its own.
struct DdpRowOptions {
  DdpBenchOptions bench;
  std::filesystem::path folder;  // of its files, the row among them
};

}  // namespace distlab
