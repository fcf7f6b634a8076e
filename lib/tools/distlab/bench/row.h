// One row of measurements, and what follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "distlab/bench/options.h"

namespace distlab::bench {

// Seconds per call over several repetitions, each of the slowest rank.
struct Times {
  double median = 0, least = 0, most = 0;
};
Times times_of(const std::vector<double>& repetitions);

struct Row {
  Form form = Form::out_of_place;
  std::string algorithm;        // that ran; "-" for messages
  std::int64_t bytes = 0;       // the size, by the rules of nccl-tests
  std::int64_t count = 0;       // elements per part
  std::int64_t iterations = 0;  // calls per batch
  Times ours;
  std::optional<Times> peer;
  double limit_s = 0;      // 0: there is none
  std::int64_t wrong = 0;  // wrong elements, on all ranks
};

// The facts that all rows share.
struct Run {
  BenchOptions options;
  Plan plan;
  std::string backend;     // "host"
  std::string peer;        // "mpi"; empty: none
  std::string peer_title;  // "Open MPI 4.1.4"
  double bandwidth = 0;    // of the node: bytes read and written per second
  double meeting = 0;      // seconds until each rank has heard from all other ranks; 0: not known
};

double algbw(const Row& row);                  // bytes per second; 0 without bytes
double busbw(const Row& row, const Run& run);  // bytes per second
double ratio(const Row& row);                  // the peer's time / ours; 0 without a peer
double percent_of_limit(const Row& row);       // 0 without a limit
// Returns the least possible seconds: the time of memory alone for the size, or of a meeting if each rank
// must hear from another, whichever is longer; 0: not known.
double limit_seconds(const Run& run, Form form, std::int64_t bytes);

}  // namespace distlab::bench
