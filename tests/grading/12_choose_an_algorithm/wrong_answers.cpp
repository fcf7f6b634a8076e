// Wrong answers to lab 12, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <cmath>

#include "dist/dist.h"

#include "choose_an_algorithm.h"

//// absolute_errors
// Misconception: least squares has no weights, as in the textbook.
// Replaces: fit_line
// Killed by: Part1Fit.measurements_with_errors
// Diagnosis: absolute_errors

Line fit_line(const std::vector<Point>& points) {
  double n = 0, x = 0, xx = 0, t = 0, xt = 0;
  for (const auto& [bytes, seconds] : points) {
    n += 1;
    x += bytes;
    xx += bytes * bytes;
    t += seconds;
    xt += bytes * seconds;
  }
  const double per_byte = (n * xt - x * t) / (n * xx - x * x);
  return {(t - per_byte * x) / n, per_byte};
}

//// bits_for_bytes
// Misconception: networks are measured in bits, so beta is in seconds per bit.
// Replaces: fit_line
// Killed by: Part1Fit.points_on_a_line
// Diagnosis: bits_for_bytes

Line fit_line(const std::vector<Point>& points) {
  auto line = right_fit_line(points);
  line.per_byte /= 8;
  return line;
}

//// costs_of_wrong_lines
// Misconception: any line through the points will do for the costs.
// Replaces: fit_line, costs_of
// Killed by: Part1Fit.three_costs_of_two_series
// Diagnosis: follows_from_fit_line

Line fit_line(const std::vector<Point>& points) {
  const Point &first = points.front(), &last = points.back();
  const double slope = (last.seconds - first.seconds) / (last.bytes - first.bytes);
  return {first.seconds - slope * first.bytes, slope};
}

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  const Line way = fit_line(one_way), port = fit_line(burst);
  return {way.at_zero - port.at_zero, port.at_zero, (way.per_byte + port.per_byte) / 2};
}

//// first_and_last_point
// Misconception: two points make a line: the smallest message shows alpha and the largest one beta.
// Replaces: fit_line
// Killed by: Part1Fit.measurements_with_errors
// Diagnosis: first_and_last_point

Line fit_line(const std::vector<Point>& points) {
  const auto &a = points.front(), &b = points.back();
  const double per_byte = (b.seconds - a.seconds) / (b.bytes - a.bytes);
  return {a.seconds - per_byte * a.bytes, per_byte};
}

//// no_latency_below_zero
// Misconception: alpha is a time, so it cannot be negative.
// Replaces: costs_of
// Killed by: Part1Fit.three_costs_of_two_series
// Diagnosis: none

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  Costs costs = right_costs_of(one_way, burst);
  costs.alpha = std::max(costs.alpha, 0.0);
  return costs;
}

//// no_time_below_zero
// Misconception: a time cannot be negative, so a line that is below zero at 0 bytes is wrong. (It is the
// best line for these measurements.)
// Replaces: fit_line
// Killed by: Part1Fit.measurements_with_errors
// Diagnosis: no_time_below_zero

Line fit_line(const std::vector<Point>& points) {
  const Line line = right_fit_line(points);
  return {std::max(line.at_zero, 0.0), std::max(line.per_byte, 0.0)};
}

//// overhead_counted_twice
// Misconception: the time of an empty message is alpha.
// Replaces: costs_of
// Killed by: Part1Fit.three_costs_of_two_series
// Diagnosis: overhead_counted_twice

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  auto costs = right_costs_of(one_way, burst);
  costs.alpha += costs.overhead;
  return costs;
}

//// a_port_for_everybody
// Misconception: a server serves all workers at the same time.
// Replaces: predict
// Killed by: Part2Predict.parameter_server
// Diagnosis: a_port_for_everybody

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::parameter_server) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * (port(c, bytes) + c.alpha) + 0 * n;
}

//// all_data_on_both_trees
// Misconception: two trees are two all_reduces.
// Replaces: predict
// Killed by: Part2Predict.double_tree
// Diagnosis: all_data_on_both_trees

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::double_tree) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return one_tree(c, n, bytes);
}

//// beta_in_bits
// Misconception: 200 Gb/s means 200e9 bytes per second. (It means bits.)
// Replaces: predict
// Killed by: Part2Predict.ring
// Diagnosis: bits_for_bytes

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  return right_predict(algorithm, machine, bytes / 8);
}

//// children_at_once
// Misconception: both children of a tree send at the same time, so their messages arrive at the same time.
// Replaces: predict
// Killed by: Part2Predict.tree
// Diagnosis: children_at_once

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::tree) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * ceil_log2(n) * (port(c, bytes) + c.alpha);
}

//// counts_pairs
// Misconception: if every rank sends to every other, there are n(n-1)/2 transfers, as the course notes say.
// (These are pairs, and each has two directions.)
// Replaces: traffic
// Killed by: Part2Predict.bytes_of_each
// Diagnosis: counts_pairs

Traffic traffic(Algorithm algorithm, int ranks, double bytes) {
  auto counted = right_traffic(algorithm, ranks, bytes);
  if (algorithm == Algorithm::naive) counted.total /= 2;
  return counted;
}

//// counts_pairs_in_time
// Misconception: n ranks form n(n-1)/2 pairs, so each rank exchanges with (n-1)/2 others.
// Replaces: predict
// Killed by: Part2Predict.naive
// Diagnosis: counts_pairs

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::naive) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return (n - 1) / 2. * (port(c, bytes) + c.alpha);
}

//// double_tree_rounds_down
// Misconception: a double tree of n ranks has log2 n levels, rounded down. (It was only tried with powers of
// two.)
// Replaces: predict
// Killed by: Part2Predict.double_tree
// Diagnosis: levels_rounded_down

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::double_tree) return right_predict(algorithm, machine, bytes);
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  const double levels = std::floor(std::log2(machine.ranks()));
  return (4 * levels - 2) * port(c, bytes / 2) + 2 * levels * c.alpha;
}

//// halves_in_sequence
// Misconception: the two halves follow each other, so two trees save nothing.
// Replaces: predict
// Killed by: Part2Predict.double_tree
// Diagnosis: halves_in_sequence

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::double_tree) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * one_tree(c, n, bytes / 2);
}

//// links_between_everywhere
// Misconception: the slowest link decides, so every message costs `between`, even on one node.
// Replaces: predict
// Killed by: Part2Predict.ring
// Diagnosis: links_between_nodes_everywhere

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  Machine slow = machine;
  if (algorithm != Algorithm::hierarchical) slow.within = slow.between;
  return right_predict(algorithm, slow, bytes);
}

//// links_within_everywhere
// Misconception: most messages of a ring stay within a node, so the links within a node decide.
// Replaces: predict
// Killed by: Part2Predict.ring
// Diagnosis: links_within_a_node_everywhere

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  Machine as_one = machine;
  if (algorithm != Algorithm::hierarchical) as_one.between = as_one.within;
  return right_predict(algorithm, as_one, bytes);
}

//// looks_at_a_worker
// Misconception: a parameter server costs 4 GB up and 4 GB down. (This is the traffic of each worker. The
// server has n - 1 times as much.)
// Replaces: traffic
// Killed by: Part2Predict.bytes_of_each
// Diagnosis: looks_at_a_worker

Traffic traffic(Algorithm algorithm, int ranks, double bytes) {
  auto counted = right_traffic(algorithm, ranks, bytes);
  if (algorithm == Algorithm::parameter_server) counted.busiest = bytes;
  return counted;
}

//// n_minus_1_over_n_forgotten
// Misconception: a ring moves 2 S, whatever n is. (For many ranks this is nearly right.)
// Replaces: predict
// Killed by: Part2Predict.ring
// Diagnosis: n_minus_1_over_n_forgotten

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::ring) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * (n - 1) * (c.overhead + c.alpha) + 2 * c.beta * bytes;
}

//// one_phase_of_a_ring
// Misconception: after one turn around the ring every rank has everything.
// Replaces: predict
// Killed by: Part2Predict.ring
// Diagnosis: one_phase_of_two

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::ring) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return ring_phase(c, n, bytes);
}

//// rounds_the_levels_down
// Misconception: a tree of n ranks has log2 n levels, rounded down. (It must be rounded up, because the last
// ranks need a level, too.)
// Replaces: predict
// Killed by: Part2Predict.tree
// Diagnosis: levels_rounded_down

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::tree) return right_predict(algorithm, machine, bytes);
  int levels = 0;
  while ((2 << levels) <= machine.ranks()) ++levels;
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return (4 * levels - 2) * port(c, bytes) + 2 * levels * c.alpha;
}

//// ways_overlap
// Misconception: all messages of the naive exchange leave at once, so alpha is counted only once.
// Replaces: predict
// Killed by: Part2Predict.naive
// Diagnosis: ways_overlap

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::naive) return right_predict(algorithm, machine, bytes);
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return (machine.ranks() - 1) * port(c, bytes) + c.alpha;
}

//// whole_tensor_each_step
// Misconception: a ring passes the whole tensor around.
// Replaces: predict
// Killed by: Part2Predict.ring
// Diagnosis: whole_tensor_each_step

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::ring) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * (n - 1) * (port(c, bytes) + c.alpha);
}

//// all_data_between_nodes
// Misconception: the nodes perform an all_reduce, so all of the data crosses them.
// Replaces: predict
// Killed by: Part3Choose.predicts_the_hierarchical_one
// Diagnosis: all_data_between_nodes

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::hierarchical) return right_predict(algorithm, machine, bytes);
  return 2 * ring_phase(machine.within, machine.gpus, bytes) +
         2 * ring_phase(machine.between, machine.nodes, bytes);
}

//// chooses_by_swapped_numbers
// Misconception: m and g are two names for numbers that one may take for each other; the choice follows.
// Replaces: predict, choose
// Killed by: Part3Choose.on_one_node
// Diagnosis: none

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::hierarchical) return right_predict(algorithm, machine, bytes);
  Machine turned = machine;
  std::swap(turned.nodes, turned.gpus);
  return right_predict(algorithm, turned, bytes);
}

Algorithm choose(const Machine& machine, double bytes) {
  Algorithm best = Algorithm::ring;
  for (const auto algorithm : all_algorithms)
    if (predict(algorithm, machine, bytes) < predict(best, machine, bytes)) best = algorithm;
  return best;
}

//// fixed_512
// Misconception: the ring is best up to 512 GPUs, and a tree above that, as many pages repeat.
// Replaces: choose
// Killed by: Part3Choose.on_one_node
// Diagnosis: size_ignored

Algorithm choose(const Machine& machine, double) {
  return machine.ranks() <= 512 ? Algorithm::ring : Algorithm::double_tree;
}

//// flat_ring_over_nodes
// Misconception: the ring is best for large data on any machine.
// Replaces: choose
// Killed by: Part3Choose.on_several_nodes
// Diagnosis: flat_ring_over_nodes

Algorithm choose(const Machine& machine, double bytes) {
  const auto best = right_choose(machine, bytes);
  return best == Algorithm::hierarchical && machine.nodes > 1 ? Algorithm::ring : best;
}

//// flat_ring_predicted
// Misconception: nodes make no difference to the number of steps of a ring, so they make none to its time.
// Replaces: predict
// Killed by: Part3Choose.predicts_the_hierarchical_one
// Diagnosis: flat_ring_over_nodes

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  return right_predict(algorithm == Algorithm::hierarchical ? Algorithm::ring : algorithm, machine, bytes);
}

//// last_of_equals
// Misconception: among algorithms that take the same time any one will do, so `<=` may keep the last one.
// Replaces: choose
// Killed by: Part3Choose.on_one_node
// Diagnosis: last_of_equals

Algorithm choose(const Machine& machine, double bytes) {
  Algorithm best = Algorithm::ring;
  for (const auto algorithm : all_algorithms)
    if (predict(algorithm, machine, bytes) <= predict(best, machine, bytes)) best = algorithm;
  return best;
}

//// limits_of_one_machine
// Misconception: the sizes at which the algorithms change places are limits that hold on every machine of
// several nodes.
// Replaces: choose
// Killed by: Part3Choose.on_several_nodes
// Diagnosis: not_the_smallest_prediction

Algorithm choose(const Machine& machine, double bytes) {
  if (machine.nodes == 1) return right_choose(machine, bytes);
  if (bytes > 256 * 1024) return machine.gpus > 1 ? Algorithm::hierarchical : Algorithm::ring;
  return machine.ranks() <= 4 ? Algorithm::naive : Algorithm::double_tree;
}

//// limits_of_one_node
// Misconception: below 64 KiB the message overheads decide and above it the bytes, on every node.
// Replaces: choose
// Killed by: Part3Choose.on_one_node
// Diagnosis: not_the_smallest_prediction

Algorithm choose(const Machine& machine, double bytes) {
  if (machine.nodes > 1 || bytes == 0) return right_choose(machine, bytes);
  if (bytes > 64 * 1024) return Algorithm::ring;
  return machine.ranks() <= 8 ? Algorithm::naive : Algorithm::tree;
}

//// swaps_nodes_and_gpus
// Misconception: the hierarchical algorithm has rings of m ranks within and of g ranks across.
// Replaces: predict
// Killed by: Part3Choose.predicts_the_hierarchical_one
// Diagnosis: swaps_nodes_and_gpus

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::hierarchical) return right_predict(algorithm, machine, bytes);
  Machine turned = machine;
  std::swap(turned.nodes, turned.gpus);
  return right_predict(algorithm, turned, bytes);
}

//// two_trees_for_one
// Misconception: two trees are never slower than one, so one tree need not be considered. (Where they take
// equally long, it comes first.)
// Replaces: choose
// Killed by: Part3Choose.on_one_node
// Diagnosis: last_of_equals

Algorithm choose(const Machine& machine, double bytes) {
  const Algorithm best = right_choose(machine, bytes);
  return best == Algorithm::tree ? Algorithm::double_tree : best;
}

//// a_reduce_for_each_part
// Misconception: each rank gets its part by a reduce of its own, and gives it back by a broadcast.
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: more_than_three_collectives

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  auto parts = data.chunk(groups.within.size());
  const auto& ranks = groups.within.ranks();
  for (std::size_t i = 0; i < parts.size(); ++i)
    dist::reduce(parts[i], ranks[i], dist::ReduceOp::sum, {.group = groups.within});
  auto& mine = parts[static_cast<std::size_t>(groups.within.rank())];
  dist::all_reduce(mine, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
  for (std::size_t i = 0; i < parts.size(); ++i)
    dist::broadcast(parts[i], ranks[i], {.group = groups.within});
}

//// algorithm_left_to_chance
// Misconception: the library chooses the best algorithm. (It chooses the one that takes the least time here,
// not the one with the fewest bytes.)
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: algorithm_left_to_chance

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  auto part = dist::empty({data.numel() / groups.within.size()}, data.dtype());
  dist::reduce_scatter_tensor(part, data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_reduce(part, dist::ReduceOp::sum, {.group = groups.across});
  dist::all_gather_into_tensor(data, part, {.group = groups.within});
}

//// flat_all_reduce
// Misconception: only the result matters, and all_reduce computes it.
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: flat_over_nodes

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  (void)groups;
  dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "ring"});
}

//// intra_node_step_skipped
// Misconception: the GPUs of a node share its memory, so their sum already exists.
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: intra_node_step_skipped

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
}

//// leaders_only
// Misconception: each node has a leader that communicates for it, as in many MPI programs.
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: leaders_only

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  const auto& ranks = groups.within.ranks();
  dist::reduce(data, ranks[0], dist::ReduceOp::sum, {.group = groups.within});
  if (groups.within.rank() == 0)
    dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
  dist::broadcast(data, ranks[0], {.group = groups.within});
}

//// only_members_make_the_group
// Misconception: a group is created by its members.
// Replaces: make_groups
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: only_members_make_the_group

Groups make_groups(int gpus) {
  const int rank = dist::get_rank(), nodes = dist::get_world_size() / gpus;
  std::vector<int> within, across;
  for (int gpu = 0; gpu < gpus; ++gpu) within.push_back(rank / gpus * gpus + gpu);
  for (int node = 0; node < nodes; ++node) across.push_back(node * gpus + rank % gpus);
  Groups mine;
  mine.within = dist::new_group(within);
  mine.across = dist::new_group(across);
  return mine;
}

//// own_order_across
// Misconception: every rank adds the parts of all nodes, beginning with its own.
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: each_rank_sums_in_its_own_order

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  const int nodes = groups.across.size(), node = groups.across.rank();
  std::vector<dist::Tensor> all;
  for (int i = 0; i < nodes; ++i) all.push_back(dist::empty_like(data));
  dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_gather(all, data, {.group = groups.across});
  for (int i = 1; i < nodes; ++i) data.add_(all[static_cast<std::size_t>((node + i) % nodes)]);
}

//// parts_not_gathered
// Misconception: an all_reduce leaves the result on all ranks, and the exchange between nodes was an
// all_reduce.
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: parts_not_gathered

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  auto part = dist::empty({data.numel() / groups.within.size()}, data.dtype());
  dist::reduce_scatter_tensor(part, data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_reduce(part, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
  auto own = data.narrow(groups.within.rank() * part.numel(), part.numel());
  own.copy_(part);
}

//// scatter_skipped
// Misconception: first all of a node's data is summed within the node, then all of it is summed across the
// nodes.
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: flat_over_nodes

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
}

//// the_librarys_own
// Misconception: the library's hierarchical all_reduce may be used, because it exists.
// Replaces: hierarchical_all_reduce
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: the_librarys_own

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  (void)groups;
  dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "hierarchical"});
}
