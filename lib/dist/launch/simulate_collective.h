// One collective on virtual ranks, by sizes alone: no data is held or moved, so that thousands of ranks and
// large tensors fit. The algorithms are the library's own (collectives/algorithms.h).
#pragma once

#include <cstdint>
#include <string>

#include "dist/core/op_kind.h"
#include "dist/sim/topology.h"

namespace dist::sim {

struct CollectiveRun {
  OpKind collective = OpKind::all_reduce;
  std::string algorithm;  // empty: what choose() takes
  int ranks = 4;
  std::int64_t bytes = 4;  // of one rank's data (all_gather, scatter, ...: of all ranks' together)
};

struct CollectiveCost {
  std::string algorithm;
  double virtual_time_s = 0;  // until the last rank has its result
  double wall_s = 0;
  std::uint64_t messages = 0;
  std::uint64_t max_bytes_sent_per_rank = 0;
};

// f32 elements; `bytes` is rounded up to whole ones. Error{invalid_argument} for an algorithm that does not
// exist and for more ranks than the topology has; Error{resource} when the ranks' stacks do not fit.
CollectiveCost simulate_collective(const CollectiveRun& run, const Topology& topology);

}  // namespace dist::sim
