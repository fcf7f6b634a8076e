// Measuring: batches of calls between barriers, ours and the peer's in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "distlab/bench/sides.h"

namespace distlab::bench {

struct Effort {
  std::int64_t iterations = 0;  // calls of a batch; 0: as many as take about 10 ms
  int repeats = 15;
  std::int64_t warm_up = 5;  // calls; once around all buffers, so that all are mapped everywhere
};

// Seconds a call, of each repetition the slowest rank's; equal on all ranks.
struct Measured {
  std::vector<double> ours, peer;  // peer: empty without one
  std::int64_t iterations = 0;     // of ours
};
Measured measure(Side& ours, Side* peer, const Effort& effort);

// The largest over all ranks, element by element.
std::vector<double> largest_of_all(const std::vector<double>& values);

// Bytes read and written a second, by all ranks together, while each copies one large buffer into another.
// The best of several rounds and of two ways of copying: what memory gives, not what a library reaches.
double node_bandwidth(int ranks, int rounds);
// The same of the memory of all GPUs that the ranks have, while on each one rank copies.
double device_bandwidth(dist::Device device, int rounds);

// Seconds in which each of these ranks of one host hears from all others, with nothing else to do: each
// writes a cache line, and waits for theirs. The best of several rounds. 0 where they get no memory in
// common. `share_cores`: they outnumber the cores, and take turns.
double meeting_seconds(int ranks, bool share_cores, int rounds);

}  // namespace distlab::bench
