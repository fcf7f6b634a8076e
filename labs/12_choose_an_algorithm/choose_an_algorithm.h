// Lab 12, the contract: how long an all_reduce takes, before it is run, and which one to run.
// You write these functions in choose_an_algorithm.cpp; this file stays as it is.
//
// Parts 1 to 3 are arithmetic. Times are in seconds, sizes in bytes. Arithmetic on the data is free.
// Not for this lab: dist::sim
// Not for this lab: dist::formulas
#pragma once

#include <array>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// A measurement: a message of `bytes` took `seconds` (more than 0).
struct Point {
  double bytes = 0;
  double seconds = 0;
};

// seconds = at_zero + per_byte * bytes
struct Line {
  double at_zero = 0;
  double per_byte = 0;
};

// Part 1. The line that fits the points best: of all lines the one for which the sum of the squares of the
// RELATIVE errors, (line - seconds) / seconds, is smallest. There are at least two points, of different
// sizes.
Line fit_line(const std::vector<Point>& points);

// What a message of b bytes costs on one kind of link: it holds its sender's and its receiver's port for
// overhead + beta * b, and arrives `alpha` after that. A port serves one message at a time; sending and
// receiving use two ports.
struct Costs {
  double alpha = 0;     // s: the way
  double overhead = 0;  // s: of each message at its ports
  double beta = 0;      // s/byte at its ports
};

// From two series of measurements: `one_way`, from the begin of a message until it has arrived; `burst`, of
// many messages one after the other through one port, the time that each adds. beta is the mean of what the
// two say of it.
Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst);

// `nodes` computers with `gpus` GPUs each, a rank a GPU, numbered node by node. All messages within a node
// cost `within`, all others `between`; each GPU has a network card of its own.
struct Machine {
  int nodes = 1;
  int gpus = 1;  // of each node
  Costs within = {};
  Costs between = {};
  int ranks() const { return nodes * gpus; }
};

// How to all_reduce S bytes among n >= 2 ranks. A tree sends all it has in one piece (no segments, as in lab
// 10).
enum class Algorithm {
  ring,              // 2 (n - 1) steps with the neighbours, S/n bytes in each
  tree,              // binary: up to the root, then down; an inner rank has two children, the root has one
  double_tree,       // two such trees at once, each for half of the data
  parameter_server,  // everybody sends all to rank 0, which then sends the sum to everybody
  naive,             // everybody sends all to everybody: n - 1 rounds, each begins when the one before is in
  hierarchical       // part 4's: a ring within each node, rings across the nodes, the first one again
};
inline constexpr std::array all_algorithms{Algorithm::ring,        Algorithm::tree,
                                           Algorithm::double_tree, Algorithm::parameter_server,
                                           Algorithm::naive,       Algorithm::hierarchical};

// Part 2. How many seconds it takes until the last rank has the sum. For the trees count as if n were a power
// of two (rounded up), which is no less than the truth, and as if every message left at once; the double tree
// works in phases, which cost up to a tenth more where starts outweigh bytes. On a machine of several nodes
// all algorithms but the hierarchical one count as if every message crossed nodes, again no less than the
// truth.
double predict(Algorithm algorithm, const Machine& machine, double bytes);

// Bytes that leave ports.
struct Traffic {
  double total = 0;    // of all ranks together
  double busiest = 0;  // of the rank that sends most
};
// The traffic of one all_reduce of `bytes` among `ranks` ranks, at least 4 and even. Not for hierarchical.
Traffic traffic(Algorithm algorithm, int ranks, double bytes);

// Part 3. The algorithm that takes the least time; of equal ones the first in all_algorithms.
Algorithm choose(const Machine& machine, double bytes);

// Part 4. The two groups of this rank: those on its node, and those that have its place on the other nodes.
struct Groups {
  dist::ProcessGroup within;
  dist::ProcessGroup across;
};
// Every rank calls this; the world size is a multiple of `gpus`.
Groups make_groups(int gpus);

// The sum over all ranks, in place, the same bits on all of them. The number of elements is a multiple of
// `gpus`. Made of three of the library's collectives in these groups. Of m nodes with g GPUs each, a rank
// sends at most 2 (m - 1)/m * S/g bytes to other nodes and at most 2 (g - 1)/g * S bytes within its own,
// where S/g divides.
// ({.group = g, .algorithm = "ring"} asks for a group and for an algorithm.)
void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups);

}  // namespace lab
