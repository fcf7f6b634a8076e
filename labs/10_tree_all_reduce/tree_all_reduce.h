// Lab 10, the contract: the sum over all ranks, up a tree and down again, in segments.
// You write these functions in tree_all_reduce.cpp; this file stays as it is.
//
// Every rank of the default group calls parts 2 to 4, n ranks in all, n = 1 too. `data` has one axis, and the
// same length and dtype on all ranks: f32, f64 or i64, any number of elements, also none. Results are in
// place: in the memory that the caller gave. Allowed are send, recv, isend, irecv and batch_isend_irecv, and
// your own functions of this file; no collective of the library.
//
// D stands for ceil(log2 n). A round: every rank sends at most one message and receives at most one.
#pragma once

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
  std::vector<int> children;  // none, one or two; in the order in which you want to serve them
};

// Part 1. No message: every rank can compute every rank's place. The root is rank 0; a rank has two children
// at most; from no rank are there more than D links up to the root. Apart from that the tree is yours.
// 0 <= rank < n.
Place tree_place(int rank, int n);

// Part 2. Afterwards rank 0 holds the sum; what the others hold does not matter. Every rank but the root
// sends one message, to its parent: n - 1 in all. At most 2D rounds.
void reduce_to_root(dist::Tensor& data);

// Part 3. The sum over all ranks, on every rank, with the same bits. Every link of the tree carries one
// message up and one down: 2(n - 1) in all. At most 4D rounds.
void tree_all_reduce(dist::Tensor& data);

// Part 4. The same tree, and segments in flight: a segment is a piece of `segment` elements, the last one
// what is left. `segment` is positive. Every link carries each segment once up and once down. While one
// segment goes down, another one comes up: m segments take at most 3m + 6D + 4 rounds.
void tree_all_reduce_pipelined(dist::Tensor& data, std::int64_t segment);

}  // namespace lab
