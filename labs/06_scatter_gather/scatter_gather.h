// Lab 06, the contract: one rank's data dealt out to all, and collected again.
// You write these functions in scatter_gather.cpp; this file stays as it is.
//
// Every rank of the world calls them, in the same order. Ranks are 0 ... n - 1; `root` is one of them, and
// all name the same. Tensors are of f32. What a function reads stays as it is; `mine` (scatter) and list[r]
// (gather) are written in place: in the memory that the caller gave. Allowed are send, recv, isend, irecv and
// batch_isend_irecv; no collective of the library.
//
// Memory is part of the contract: what a rank other than the root allocates is named at each part.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. On the root list[r] is rank r's share, n tensors of one size; on all other ranks `list` is EMPTY.
// Afterwards `mine`, a tensor of that size, has this rank's share, also on the root. The root sends every
// other rank one message, nobody else sends. Others than the root allocate nothing.
void scatter(dist::Tensor& mine, const std::vector<dist::Tensor>& list, int root);

// Part 2. The way back. On the root `list` holds n tensors of mine's size; on all other ranks it is EMPTY.
// Afterwards list[r] on the root has rank r's `mine`, whoever came first. Every other rank sends the root one
// message. Others than the root allocate nothing. Calls one after the other do not mix, however far a
// rank is ahead.
void gather(const dist::Tensor& mine, std::vector<dist::Tensor>& list, int root);

// Part 3. On the root `all` is [rows, columns], with any number of rows: fewer than ranks, or none. On all
// other ranks it is UNDEFINED, and they do not know how many rows there are; `columns` (1 or more) they know.
// Returns this rank's part, [part, columns], in memory of its own. The parts are contiguous and in rank
// order; their sizes differ by at most one, the longer ones come first (10 rows for 4 ranks: 3, 3, 2, 2).
// To each other rank the root sends at most one message of at most 16 bytes, which says how much there is,
// and one with its part. Others than the root allocate their part and at most 16 bytes.
dist::Tensor scatter_rows(const dist::Tensor& all, std::int64_t columns, int root);

// Part 4. As part 1, for short shares: `all` on the root is flat, [n * k], rank r's share are the k elements
// from r * k on; on all other ranks it is UNDEFINED. `mine` is [k] on all ranks, k may be 0. A tree of at
// most ceil(log2 n) rounds, for every n and every root. Every rank but the root receives exactly ONE message,
// with the shares of its subtree (itself and all ranks below it), and forwards all of them but its own: no
// more. A rank other than the root allocates at most its subtree's shares, the root at most n.
void tree_scatter(dist::Tensor& mine, const dist::Tensor& all, int root);

}  // namespace lab
