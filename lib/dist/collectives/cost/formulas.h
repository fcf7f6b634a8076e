// The costs that the algorithms' headers state, as functions: seconds until the last rank has its result.
// There is one for each row of the table (algorithms.h), named after the collective and the algorithm.
//
// They are for two ranks or more. `bytes`: S of the header. Where a header says "at most" or "about", so does
// its function. Copies within a rank's own memory count (c S, c: CostModel::copy) where an algorithm copies
// all of its data and others need not. On several nodes, messages within one node take less time than those
// between nodes, and those that the ranks of a node send at the same time share its network cards: there the
// functions are estimates.
#pragma once

#include "dist/collectives/cost/cost_model.h"

namespace dist::formulas {

using Model = const CostModel&;
using At = const World&;

double flat_broadcast(Model m, At at, double bytes);
double binomial_broadcast(Model m, At at, double bytes);
double chain_broadcast(Model m, At at, double bytes);
double scatter_all_gather_broadcast(Model m, At at, double bytes);
double scatter_bruck_broadcast(Model m, At at, double bytes);

double flat_reduce(Model m, At at, double bytes);
double binomial_reduce(Model m, At at, double bytes);
double rabenseifner_reduce(Model m, At at, double bytes);
double chain_reduce(Model m, At at, double bytes);

double recursive_doubling_all_reduce(Model m, At at, double bytes);
double rabenseifner_all_reduce(Model m, At at, double bytes);
double ring_all_reduce(Model m, At at, double bytes);
double ring_segmented_all_reduce(Model m, At at, double bytes);
double ring_2d_all_reduce(Model m, At at, double bytes);
double hierarchical_all_reduce(Model m, At at, double bytes);
double tree_all_reduce(Model m, At at, double bytes);
double double_binary_tree_all_reduce(Model m, At at, double bytes);
double reduce_broadcast_all_reduce(Model m, At at, double bytes);
double parameter_server_all_reduce(Model m, At at, double bytes);
double naive_exchange_all_reduce(Model m, At at, double bytes);

double flat_scatter(Model m, At at, double bytes);      // also for gather
double binomial_scatter(Model m, At at, double bytes);  // also for gather

double ring_all_gather(Model m, At at, double bytes);
double pairwise_all_gather(Model m, At at, double bytes);  // also for all_to_all
double bruck_all_gather(Model m, At at, double bytes);
double recursive_doubling_all_gather(Model m, At at, double bytes);
double ring_reduce_scatter(Model m, At at, double bytes);
double pairwise_reduce_scatter(Model m, At at, double bytes);
double halving_reduce_scatter(Model m, At at, double bytes);
double ring_2d_reduce_scatter(Model m, At at, double bytes);
double bruck_all_to_all(Model m, At at, double bytes);

// For direct/algorithms.h: ranks that map each other's memory.
double direct_broadcast(Model m, At at, double bytes);
double direct_reduce(Model m, At at, double bytes);
double one_shot_all_reduce(Model m, At at, double bytes);
double two_shot_all_reduce(Model m, At at, double bytes);
double direct_scatter(Model m, At at, double bytes);
double direct_gather(Model m, At at, double bytes);
double direct_all_gather(Model m, At at, double bytes);  // also for all_to_all
double direct_reduce_scatter(Model m, At at, double bytes);
double direct_barrier(Model m, At at, double bytes);

double dissemination_barrier(Model m, At at, double bytes);

}  // namespace dist::formulas
