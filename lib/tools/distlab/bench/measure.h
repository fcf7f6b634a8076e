// The measurement: batches of calls between barriers, ours and the peer's alternately.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "distlab/bench/sides.h"

namespace distlab::bench {

struct Effort {
  std::int64_t iterations = 0;  // calls per batch; 0: as many as take about 10 ms
  int repeats = 15;
  std::int64_t warm_up = 5;  // calls that go once around all buffers, so that every rank maps all of them
};

// Seconds per call of each repetition on the slowest rank; equal on all ranks.
struct Measured {
  std::vector<double> ours, peer;  // peer: empty without one
  std::int64_t iterations = 0;     // calls per batch of ours
};
Measured measure(Side& ours, Side* peer, const Effort& effort);

// Returns the largest values over all ranks, element by element.
std::vector<double> largest_of_all(const std::vector<double>& values);

// Returns the bytes that all ranks together read and write per second while each copies one large buffer into
// another. It is the best of several rounds and of two ways of copying: the bandwidth of memory, not of a
// library. Calls `share_done` now and then with the share of the work that is done.
double node_bandwidth(int ranks, int rounds, const std::function<void(double)>& share_done = {});
// The same for the memory of all GPUs that the ranks have, while one rank on each GPU copies.
double device_bandwidth(dist::Device device, int rounds);

// Returns the seconds that the ranks of one node need to hear from each other without any other work: each
// writes a cache line and waits for the lines of all others. It is the best of several rounds; 0 if the ranks
// cannot share memory. `share_cores` means that there are more ranks than cores, so they take turns.
double meeting_seconds(int ranks, bool share_cores, int rounds);

}  // namespace distlab::bench
