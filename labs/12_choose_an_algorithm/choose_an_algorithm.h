// Lab 12, the specification: predict how long an all_reduce takes, and choose the algorithm.
// You write these functions in choose_an_algorithm.cpp. Do not change this file.
//
// Parts 1 to 3 are arithmetic. Times are in seconds, sizes in bytes. Adding the data is assumed to take no
// time. README.md describes the cost model.
// Not for this lab: dist::sim
// Not for this lab: dist::formulas
#pragma once

#include <array>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// One measurement: a message of `bytes` bytes took `seconds` (greater than 0).
struct Point {
  double bytes = 0;
  double seconds = 0;
};

// seconds = at_zero + per_byte * bytes
struct Line {
  double at_zero = 0;
  double per_byte = 0;
};

// Part 1. Fits a line to measurements.
// - Input: at least two points, with different sizes.
// - Output: the line for which the sum of the squared RELATIVE errors, (line - seconds) / seconds, is
//   smallest.
// - Example: (0 bytes, 1 us), (1000 bytes, 2 us) and (2000 bytes, 4 us) give at_zero = 0.970 us and per_byte
//   = 1.273 ns.
Line fit_line(const std::vector<Point>& points);

// The cost of messages on one kind of link. A message of b bytes occupies its sender's port and its
// receiver's port for overhead + beta * b seconds each, and arrives `alpha` seconds after it has left. A port
// serves one message at a time. A rank sends through one port and receives through another.
struct Costs {
  double alpha = 0;     // seconds: the one-way latency
  double overhead = 0;  // seconds: the per-message overhead, o
  double beta = 0;      // seconds per byte
};

// Part 1. Computes the three costs from two series of measurements.
// - Input: `one_way`: the time from the start of a message until it has arrived. `burst`: the time that each
//   of many messages adds when they follow one another through one port.
// - Output: alpha, overhead and beta. beta is the mean of the slopes of the two fitted lines.
// - Example: if the lines are 2.1 us + 4.0e-11 s/byte (one way) and 1.2 us + 3.8e-11 s/byte (burst), then
//   alpha is 0.9 us, overhead 1.2 us and beta 3.9e-11 s/byte.
Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst);

// `nodes` nodes with `gpus` GPUs each, one rank per GPU, numbered node by node. Messages within a node cost
// `within`, all others cost `between`. Each GPU has a network card of its own.
struct Machine {
  int nodes = 1;
  int gpus = 1;  // per node
  Costs within = {};
  Costs between = {};
  int ranks() const { return nodes * gpus; }
};

// Algorithms for an all_reduce of S bytes among n >= 2 ranks. The trees here send all of their data in one
// message (without segments, unlike Lab 10).
enum class Algorithm {
  ring,              // 2 (n - 1) steps with the neighbours, S/n bytes in each
  tree,              // binary, up to the root, then down; an inner rank has two children, the root has one
  double_tree,       // two such trees at the same time, each for half of the data
  parameter_server,  // every rank sends all data to rank 0, which then sends the sum to every rank
  naive,             // every rank sends all data to every rank: n - 1 rounds, one after the other
  hierarchical       // that of Part 4: a ring within each node, rings across the nodes, a ring within again
};
inline constexpr std::array all_algorithms{Algorithm::ring,        Algorithm::tree,
                                           Algorithm::double_tree, Algorithm::parameter_server,
                                           Algorithm::naive,       Algorithm::hierarchical};

// Part 2 (the hierarchical algorithm: Part 3). Predicts the time of an all_reduce.
// - Output: the seconds until the last rank has the sum.
// - Constraint: on a machine with one node all messages cost `within`. With several nodes, all algorithms
//   except the hierarchical one count as if every message crossed nodes (`between`). For the trees, round n
//   up to a power of two. Both rules can only make the result larger than the true time. Count as if every
//   message left as soon as its port is free. (The library's double tree works in phases. Where the
//   per-message costs outweigh the bytes, they cost it up to a tenth more; this is left out.)
// - Example: one node with 8 GPUs, alpha 0.6 us, overhead 0.5 us, 8 bytes: the ring takes 14 * 1.1 = 15.4 us.
double predict(Algorithm algorithm, const Machine& machine, double bytes);

// Bytes that ranks send.
struct Traffic {
  double total = 0;    // all ranks together
  double busiest = 0;  // the rank that sends most
};
// Part 2. Computes the traffic of one all_reduce.
// - Input: an algorithm, but not the hierarchical one; the number of ranks, at least 4 and even; the size.
// - Example: traffic(Algorithm::ring, 4, 1000) is {6000, 1500}.
Traffic traffic(Algorithm algorithm, int ranks, double bytes);

// Part 3. Returns the algorithm with the smallest predicted time; of equal ones, the first in all_algorithms.
// - Example: for one node with 8 GPUs and 8 bytes, as above: Algorithm::naive.
Algorithm choose(const Machine& machine, double bytes);

// The two groups of one rank.
struct Groups {
  dist::ProcessGroup within;  // the ranks of its node
  dist::ProcessGroup across;  // the ranks that have the same position on their nodes
};
// Part 4. Makes the groups. Every rank calls it; the world size is a multiple of `gpus`.
// - Example: 6 ranks, gpus = 3: rank 4 gets within = {3, 4, 5} and across = {1, 4}.
Groups make_groups(int gpus);

// Part 4. The sum over all ranks, in place, with the same bits on all of them.
// - Input: `data`, whose number of elements is a multiple of `gpus`; this rank's groups.
// - Constraint: three of the library's collectives in these groups. With m nodes of g GPUs each, a rank sends
//   at most 2 (m - 1)/m * S/g bytes to other nodes, and at most 2 (g - 1)/g * S bytes within its own node, if
//   S is a multiple of g. ({.group = g, .algorithm = "ring"} chooses a group and an algorithm.)
// - Example: 2 nodes with 2 GPUs each; rank r holds four elements, all r + 1. Every rank ends with [10, 10,
//   10, 10].
void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups);

}  // namespace lab
