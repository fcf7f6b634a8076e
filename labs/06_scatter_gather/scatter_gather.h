// Lab 06, the specification: one rank's data is distributed to all ranks, and collected again.
// You write these functions in scatter_gather.cpp. Do not change this file.
//
// Every rank of the world calls the functions, in the same order. Ranks are 0 ... n - 1; `root` is one of
// them, and all ranks name the same one. Tensors are f32. What a function only reads stays as it is. `mine`
// (scatter) and list[r] (gather) are written in place, that is, in the memory that the caller gave. Allowed
// calls: send, recv, isend, irecv and batch_isend_irecv. The library's collectives are not allowed.
//
// Memory is limited, too: each Part says what a rank other than the root may allocate.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. Distributes a list of chunks.
// - Input: on the root, list[r] is the chunk of rank r: n tensors of one size. On all other ranks `list` is
//   EMPTY.
// - Output: `mine`, a tensor of that size, holds this rank's chunk, on the root as well.
// - Constraint: the root sends one message to every other rank; no other rank sends. Only the root may
//   allocate memory.
// - Example: 4 ranks, root 2, and on rank 2 the list {[10], [11], [12], [13]}. Afterwards `mine` is [10] on
//   rank 0 and [13] on rank 3.
void scatter(dist::Tensor& mine, const std::vector<dist::Tensor>& list, int root);

// Part 2. Collects the chunks of all ranks on the root.
// - Input: every rank's `mine`. On the root, `list` holds n tensors of the size of `mine`; on all other ranks
//   it is EMPTY.
// - Output: on the root, list[r] holds the `mine` of rank r, in whatever order the messages arrive.
// - Constraint: every other rank sends one message to the root. Only the root may allocate memory.
//   Consecutive calls must not mix, however far one rank is ahead of another.
// - Example: the example of Part 1 in reverse.
void gather(const dist::Tensor& mine, std::vector<dist::Tensor>& list, int root);

// Part 3. Distributes the rows of a matrix as evenly as possible.
// - Input: on the root, `all` is [rows, columns], with any number of rows, also 0 or fewer than n. On all
//   other ranks `all` is UNDEFINED, and they do not know the number of rows. Every rank knows `columns` (at
//   least 1).
// - Output: this rank's rows, a tensor of shape [number of its rows, columns] in memory of its own. The rows
//   of a rank are contiguous, and they are in rank order. The numbers of rows differ by at most one, and the
//   larger ones come first.
// - Constraint: the root sends every other rank at most two messages: one of at most 16 bytes with the number
//   of rows (of `all` or of that rank, as you like), and one with its rows. A rank other than the root
//   allocates only its rows and at most 16 bytes.
// - Example: 10 rows for 4 ranks: 3, 3, 2 and 2 rows. 3 rows for 4 ranks: 1, 1, 1 and 0.
dist::Tensor scatter_rows(const dist::Tensor& all, std::int64_t columns, int root);

// Part 4. The scatter of Part 1 along a tree, for small chunks.
// - Input: on the root, `all` is one flat tensor of n * k elements; the chunk of rank r is the k elements
//   from r * k on. On all other ranks `all` is UNDEFINED. `mine` has k elements on every rank; k may be 0.
// - Output: `mine` holds this rank's chunk.
// - Constraint: a tree of at most ceil(log2 n) rounds, for every n and every root. Every rank except the root
//   receives exactly ONE message, with the chunks of its subtree (itself and all ranks below it), and
//   forwards all of them except its own, and nothing else. A rank other than the root allocates at most the
//   chunks of its subtree; the root allocates at most n chunks.
// - Example: 6 ranks, root 3: rank 3 sends rank 1 the chunks of ranks 1 and 2, rank 5 those of ranks 5 and 0,
//   and rank 4 its own.
void tree_scatter(dist::Tensor& mine, const dist::Tensor& all, int root);

}  // namespace lab
