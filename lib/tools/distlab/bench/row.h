// One measured row, and what follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "distlab/bench/options.h"

namespace distlab::bench {

// Seconds a call, of several repetitions; of each the slowest rank's.
struct Times {
  double median = 0, least = 0, most = 0;
};
Times times_of(const std::vector<double>& repetitions);

struct Row {
  Form form = Form::out_of_place;
  std::string algorithm;        // what really ran; "-" for messages
  std::int64_t bytes = 0;       // the size, as nccl-tests counts it
  std::int64_t count = 0;       // elements of a share
  std::int64_t iterations = 0;  // calls of a batch
  Times ours;
  std::optional<Times> peer;
  double limit_s = 0;      // 0: there is none
  std::int64_t wrong = 0;  // elements, on all ranks
};

// What all rows have in common.
struct Run {
  BenchOptions options;
  Plan plan;
  std::string backend;     // "host"
  std::string peer;        // "mpi"; empty: none
  std::string peer_title;  // "Open MPI 4.1.4"
  double bandwidth = 0;    // of the node, bytes read and written a second
  double meeting = 0;      // seconds until each rank has heard from all others; 0: not known
};

double algbw(const Row& row);                  // bytes a second; 0 where there are none
double busbw(const Row& row, const Run& run);  // bytes a second
double ratio(const Row& row);                  // the peer's time / ours; 0 without a peer
double percent_of_limit(const Row& row);       // 0 where there is none
// Seconds that nothing can be faster than: what memory alone takes for the size, or the meeting where each
// rank must have heard from another; 0: not known.
double limit_seconds(const Run& run, Form form, std::int64_t bytes);

}  // namespace distlab::bench
