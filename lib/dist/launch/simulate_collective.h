// One collective on virtual ranks, by sizes alone: no data is held or moved, so that thousands of ranks and
// large tensors fit. The algorithms are the library's own (collectives/algorithms.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/op_kind.h"
#include "dist/launch/simulate.h"
#include "dist/sim/topology.h"

namespace dist::sim {

struct CollectiveRun {
  OpKind collective = OpKind::all_reduce;
  std::string algorithm;  // empty: what choose() takes
  int ranks = 4;
  // Of the tensor (all_reduce, broadcast, reduce), or of n shares together: what one rank has in the end
  // (gather, all_gather) or passes in (scatter, reduce_scatter, all_to_all). As in nccl-tests.
  std::int64_t bytes = 4;
  WhatIf what_if = {};
  bool links = false;  // CollectiveCost::links are wanted
};

struct CollectiveCost {
  std::string algorithm;
  double virtual_time_s = 0;  // until the last rank has its result
  double wall_s = 0;
  std::uint64_t messages = 0;
  std::uint64_t max_bytes_sent_per_rank = 0;
  std::vector<LinkTraffic> links;
  std::vector<RankFailed> failures;  // with losses: first the lost ranks, then who got which error
};

// The all-reduce of sim/switch_tree.h, which only simulations have.
inline constexpr std::string_view in_switches = "sharp";

// What `algorithm` may be: those of collectives/algorithms.h, and for all_reduce in_switches where there are
// any.
std::vector<std::string> simulated_algorithms(OpKind collective, const Topology& topology);

// Throws what simulate_collective would refuse, before it begins.
void check_collective(const CollectiveRun& run, const Topology& topology);

// f32 elements; `bytes` is rounded up to whole ones, and for scatter, gather and all_to_all to equal shares.
// Error{invalid_argument} for an algorithm that does not exist, for more ranks than the topology has and for
// a what-if that cannot be; Error{resource} when the ranks' stacks do not fit.
CollectiveCost simulate_collective(const CollectiveRun& run, const Topology& topology);

}  // namespace dist::sim
