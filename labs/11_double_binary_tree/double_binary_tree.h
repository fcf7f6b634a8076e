// Lab 11, the specification: two trees at the same time, each for one half of the data.
// You write these functions in double_binary_tree.cpp. Do not change this file.
//
// There are n ranks, 0 <= rank < n. D is ceil(log2 n). Parts 1 and 2 are arithmetic: every rank can compute
// the place of every rank, without a message.
#pragma once

#include <array>
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
  std::vector<int> children;  // none, one or two, in any order
};

// Part 1. Returns the place of `rank` in NCCL's first tree.
// - Output: rank 0 is the root, and its only child is the largest power of two below n. For every other rank,
//   let `bit` be the lowest 1 of its number in binary:
//     parent = (rank without bit) with the next higher bit set, if that rank exists; otherwise
//     parent = rank without bit
//   The children of a rank are the ranks whose parent it is: rank - bit / 2, and the largest existing rank of
//   rank + bit / 2, rank + bit / 4, ..., rank + 1. If bit is 1, it has no children.
// - Example: first_tree(6, 8) is {4, {5, 7}}; first_tree(4, 6) is {0, {2, 5}}.
Place first_tree(int rank, int n);

// Part 2. Returns the place of `rank` in NCCL's second tree, which is the first tree with the ranks in other
// places.
// - Output: for even n the tree is mirrored: rank r has the place of n - 1 - r, and the root is n - 1. For
//   odd n it is shifted: rank r has the place of r - 1, rank 0 has that of n - 1, and the root is 1.
// - Example: second_tree(3, 8) is {7, {5, 1}}; second_tree(0, 7) is {5, {6}}.
Place second_tree(int rank, int n);

// One message of the timetable of Part 3, as one rank sees it. In turn t the hop carries segment t - delay of
// its tree's half, if there is such a segment.
struct Hop {
  int tree;   // 0: first_tree, 1: second_tree
  int peer;   // the rank to send to, or to receive from
  bool up;    // true: a partial sum, which is added; false: a result, which replaces the segment
  int delay;  // in turns
};
struct Phase {
  std::vector<Hop> sends, receives;  // for two trees as in Parts 1 and 2: at most one of each
};
// The four phases of every turn, for one rank. They are computed from your two trees, such that no rank sends
// two messages or receives two messages in one phase. m segments per half take m + 2D turns. (The function is
// defined in timetable.h, which you need not read.)
inline std::array<Phase, 4> timetable(int rank, int n);

// Part 3. The sum over all ranks, on every rank, in place and with the same bits. Every rank of the default
// group calls it.
// - Input: `data` has one axis, and the same length and dtype on all ranks: f32, f64 or i64, any number of
//   elements, possibly none. `segment` is the number of elements of a segment (positive). The last segment of
//   a half has what is left.
// - Constraint: data.chunk(2)[0] travels along the first tree and data.chunk(2)[1] along the second, both at
//   the same time, in segments. All messages of a phase are started before one of them is waited for. No rank
//   sends or receives more than twice the data. m segments per half take at most 4m + 8D + 4 rounds. Allowed
//   calls: send, recv, isend, irecv and batch_isend_irecv. The library's collectives are not allowed.
// - Example: 4 ranks, 32 elements, segment = 16: one segment per half (m = 1), D = 2: m + 2D = 5 turns.
void double_tree_all_reduce(dist::Tensor& data, std::int64_t segment);

}  // namespace lab

#include "timetable.h"
