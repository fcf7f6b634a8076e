// Lab 10, the specification: the sum over all ranks, up a tree and down again, in segments.
// You write these functions in tree_all_reduce.cpp. Do not change this file.
//
// In Parts 2 to 4 every rank of the default group calls the function; there are n ranks, possibly 1. `data`
// has one axis, and the same length and dtype on all ranks: f32, f64 or i64, any number of elements, possibly
// none. Results are written in place, that is, in the memory that the caller gave. Allowed calls: send, recv,
// isend, irecv, batch_isend_irecv, and your own functions of this file. The library's collectives are not
// allowed.
//
// D is ceil(log2 n). In one round every rank sends at most one message and receives at most one.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/kernels.h"
#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// acc += arrived, for equal lengths and dtypes. Unlike acc.add_(arrived), it also tells the simulator how
// long the addition takes and whose values are now in the sum.
inline void add(dist::Tensor& acc, const dist::Tensor& arrived) {
  dist::reduce(acc.flat(), arrived.flat(), dist::ReduceOp::sum);
}

// One rank's place in a tree.
struct Place {
  int parent = -1;            // -1: this rank is the root
  std::vector<int> children;  // none, one or two, in the order in which you want to serve them
};

// Part 1. Returns the place of `rank` (0 <= rank < n) in a tree of n ranks.
// - Constraint: no messages; every rank can compute the place of every rank. The root is rank 0. A rank has
//   at most two children. No rank is more than D links away from the root. Every tree that satisfies this is
//   accepted.
// - Example: in the tree of the handout, tree_place(3, 10) is {1, {7, 8}} and tree_place(0, 1) is {-1, {}}.
Place tree_place(int rank, int n);

// Part 2. The sum over all ranks, on rank 0. What the other ranks hold afterwards does not matter.
// - Constraint: every rank except the root sends one message, to its parent: n - 1 messages in all. At most
//   2D rounds.
// - Example: 4 ranks with 1, 2, 3 and 4: rank 0 ends with 10.
void reduce_to_root(dist::Tensor& data);

// Part 3. The sum over all ranks, on every rank, with the same bits.
// - Constraint: every link of the tree carries one message up and one down: 2(n - 1) messages in all. At most
//   4D rounds.
// - Example: 4 ranks with 1, 2, 3 and 4 all end with 10.
void tree_all_reduce(dist::Tensor& data);

// Part 4. The sum over all ranks, on every rank, along the same tree and in segments.
// - Input: `segment` is the number of elements of a segment (positive). The last segment has what is left.
// - Output: as in Part 3.
// - Constraint: every link carries each segment once up and once down. While one segment goes down, another
//   one goes up: m segments take at most 3m + 6D + 4 rounds.
// - Example: 10 elements with segment = 4 travel as segments of 4, 4 and 2 elements.
void tree_all_reduce_pipelined(dist::Tensor& data, std::int64_t segment);

}  // namespace lab
