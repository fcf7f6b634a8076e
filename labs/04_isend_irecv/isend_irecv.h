// Lab 04, the specification: messages that are under way while the program does something else.
// You write these functions in isend_irecv.cpp. Do not change this file.
//
// All functions are called after init_process_group(), on the default group ("the world"). They use isend,
// irecv and batch_isend_irecv, and no collective. For every function: between the start of an operation and
// the wait() of its Work, do not write what is being sent and do not touch what is being received. When the
// function returns, every Work must have been waited for. A loop over is_completed() is not a wait: it keeps
// a core busy, and nothing throws the operation's error.
#pragma once

#include <array>
#include <functional>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. Sends `mine` to `partner` and receives the partner's tensor, which has the same length, into
// `theirs`. The partner calls the function with this rank.
// - Constraint: both directions are under way at the same time, so the swap takes no longer than one
//   direction. A rank may be its own partner.
// - Example: rank 0 has [0, 0] and partner 3, rank 3 has [3, 3] and partner 0. Afterwards `theirs` is [3, 3]
//   on rank 0 and [0, 0] on rank 3.
void swap_with(const dist::Tensor& mine, dist::Tensor& theirs, int partner);

// Part 2. The swap of Part 1, `out` for `in`, during which compute() runs. compute() touches neither tensor.
// - Constraint: compute() is called once, while the messages are under way. The function takes no longer than
//   the longer of the two, computation and transfer.
// - Example: with a transfer of 830 us and a computation of 700 us it takes 830 us.
void overlap(const dist::Tensor& out, dist::Tensor& in, int partner, const std::function<void()>& compute);

// A grid is cut into slices of rows. `field` is this rank's slice, of shape [rows + 2, columns], rows >= 1.
// It has the same shape and dtype on all ranks; the dtype need not be f32.
//   field[0]            ghost row: a copy of the last own row of rank - 1
//   field[1 ... rows]   this rank's own rows
//   field[rows + 1]     ghost row: a copy of the first own row of rank + 1
// Rank 0 has no neighbour above and the last rank has none below. Their outer ghost rows are the border of
// the grid, and no rank writes them.
//
// Part 3. Fills the ghost rows with the neighbours' rows as they are now.
// - Constraint: one batch_isend_irecv. The own rows and the border stay as they are.
// - Example: one column and two rows per rank; rank 0 has the own rows 1 and 2, rank 1 has 11 and 12. The
//   field of rank 0 changes from (0) 1 2 (-1) to (0) 1 2 (11): 0 is the border, and ghost rows are in
//   parentheses.
void exchange_ghosts(dist::Tensor& field);

// A stencil: computes one row of the next state from three rows of the present one: `row`, and the rows above
// and below it. It writes all of `next`, and the computation takes time.
using RowRule = std::function<void(const dist::Tensor& above, const dist::Tensor& row,
                                   const dist::Tensor& below, dist::Tensor& next)>;

// Part 4. Makes `steps` stencil steps on the grid, starting from a field as in Part 3.
// - Output: field[1 ... rows] holds the rows after the last step. `field` may then be another tensor of the
//   same shape and dtype, and ghost rows inside the grid may hold anything.
// - Constraint: in each step, `rule` is called once for every own row, with the rows as they were before the
//   step. The border never changes. The exchange of a step is under way while the rows that need no ghost row
//   are computed. So a step takes no longer than the longer of exchange and inner rows, plus the edge rows.
// - Example: one rank, one column, and the rule "mean of above and below": (0) 4 2 (8) becomes (0) 1 6 (8)
//   after one step.
void relax(dist::Tensor& field, int steps, const RowRule& rule);

// Part 5. A stream of `blocks` messages from one rank to another, in order. Each side has two buffers; all
// buffers have the same shape. Block i is in buffers[i % 2], and no other tensor is used.
using Buffers = std::array<dist::Tensor, 2>;

// Part 5, the sending side. Calls produce(i, buffer), which writes all of the buffer, for i = 0, 1, ..., and
// sends each block to `consumer`.
// - Constraint: block i + 1 is produced while block i is under way.
void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, dist::Tensor& block)>& produce);

// Part 5, the receiving side. Receives the blocks from `producer` in order, and calls consume(i, buffer),
// which reads the buffer, for each of them.
// - Constraint: block i + 1 may arrive while block i is consumed. The whole stream takes no longer than the
//   slowest of its three stages (production, transfer, consumption) takes for all blocks, plus what the other
//   two take for one block.
// - Example: 8 blocks, 800 us to produce, 830 us to transfer and 600 us to consume one: at most 8040 us.
void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const dist::Tensor& block)>& consume);

}  // namespace lab
