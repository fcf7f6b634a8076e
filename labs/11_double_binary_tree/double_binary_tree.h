// Lab 11, the contract: two trees at once, each for one half of the data.
// You write these functions in double_binary_tree.cpp; this file stays as it is.
//
// n ranks, 0 <= rank < n. D stands for ceil(log2 n). Parts 1 and 2 are arithmetic: every rank computes every
// rank's place, without a message.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dist/core/kernels.h"
#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// acc += arrived; lengths and dtypes are equal. As acc.add_(arrived), and what is more, the simulator charges
// the time that it takes, and its pictures know whose numbers are in the sum.
inline void add(dist::Tensor& acc, const dist::Tensor& arrived) {
  dist::reduce(acc.flat(), arrived.flat(), dist::ReduceOp::sum);
}

// One rank's place in a tree.
struct Place {
  int parent = -1;            // -1: none, this rank is the root
  std::vector<int> children;  // none, one or two; in any order
};

// Part 1. NCCL's first tree. The root is rank 0. Of any other rank let `bit` be the lowest 1 of its number:
//   parent = (rank without bit) with the next higher bit set, if there is such a rank; otherwise
//   parent = rank without bit
// A rank's children are those whose parent it is: rank - bit / 2, and the largest of rank + bit / 2,
// rank + bit / 4, ... + 1 that exists; no children when bit is 1. Rank 0 has one child, the highest power of
// two below n.
Place first_tree(int rank, int n);

// Part 2. NCCL's second tree: the first one with other ranks in its places.
//   n even: mirrored. Rank r has the place of n - 1 - r; the root is n - 1.
//   n odd: shifted. Rank r has the place of r - 1, rank 0 that of n - 1; the root is 1.
Place second_tree(int rank, int n);

// What one rank does in a phase of part 3. In turn t a hop carries segment t - delay of its tree's half, if
// there is such a segment.
struct Hop {
  int tree;   // 0: first_tree, 1: second_tree
  int peer;   // the rank to send to, or to receive from
  bool up;    // a partial sum, to be added; otherwise a result, to be put in its place
  int delay;  // turns
};
struct Phase {
  std::vector<Hop> sends, receives;  // of two such trees: at most one of each
};
// The phases of every turn, made from your two trees: when each hop's time has come, so that no two messages
// meet at a port. m segments take m + 2D turns. (timetable.h has it; you need not read it.)
inline std::array<Phase, 4> timetable(int rank, int n);

// Part 3. The sum over all ranks, on every rank, in place and with the same bits. Every rank of the default
// group calls it; `data` has one axis, and the same length and dtype on all ranks: f32, f64 or i64, any
// number of elements, also none. data.chunk(2)[0] travels along the first tree, data.chunk(2)[1] along the
// second, both at the same time, in segments of `segment` elements (positive; the last one of a half is what
// is left). All messages of a phase are under way before one is waited for. No rank sends or receives more
// than twice the data, and m segments a half take at most 4m + 8D + 4 rounds. Allowed are send, recv, isend,
// irecv and batch_isend_irecv; no collective of the library.
void double_tree_all_reduce(dist::Tensor& data, std::int64_t segment);

}  // namespace lab

#include "timetable.h"
