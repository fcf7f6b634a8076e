// One collective on virtual ranks, by sizes alone: no data is held or moved, so that thousands of ranks and
// large tensors fit. The algorithms are the library's own (collectives/algorithms.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/op_kind.h"
#include "dist/sim/topology.h"
#include "dist/simulate/simulate.h"

namespace dist::sim {

struct CollectiveRun {
  OpKind collective = OpKind::all_reduce;
  std::string algorithm;  // empty: the one that choose() takes
  int ranks = 4;
  // Bytes of the tensor (all_reduce, broadcast, reduce), or of n chunks together: what one rank has at the
  // end (gather, all_gather) or passes in (scatter, reduce_scatter, all_to_all). As in nccl-tests.
  std::int64_t bytes = 4;
  WhatIf what_if = {};
  bool links = false;  // fill CollectiveCost::links
};

struct CollectiveCost {
  std::string algorithm;
  double virtual_time_s = 0;  // until the last rank has its result
  double wall_s = 0;
  std::uint64_t messages = 0;
  std::uint64_t max_bytes_sent_per_rank = 0;
  std::vector<LinkTraffic> links;
  std::vector<RankFailed> failures;  // with losses: first the lost ranks, then each rank's error
};

// The all-reduce of sim/switch_tree.h, which only simulations have.
inline constexpr std::string_view in_switches = "sharp";

// The possible values of `algorithm`: those of collectives/algorithms.h, and for all_reduce in_switches if
// the topology has any.
std::vector<std::string> simulated_algorithms(OpKind collective, const Topology& topology);

// Throws the errors of simulate_collective(), before it begins.
void check_collective(const CollectiveRun& run, const Topology& topology);

// Elements are f32; `bytes` is rounded up to whole ones, and for scatter, gather and all_to_all to equal
// chunks. Throws Error{invalid_argument} for an algorithm that does not exist, for more ranks than the
// topology has and for an impossible what-if; Error{resource} when the ranks' stacks do not fit.
CollectiveCost simulate_collective(const CollectiveRun& run, const Topology& topology);

}  // namespace dist::sim
