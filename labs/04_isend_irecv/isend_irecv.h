// Lab 04, the contract: messages that are under way while you do something else.
// You write these functions in isend_irecv.cpp; this file stays as it is.
//
// All of them are called after init_process_group(), on the default group ("the world"), and use isend, irecv
// and batch_isend_irecv, no collective. Of every function holds: between an operation and the wait() of its
// Work, what is sent is not written and what is received is not touched; and when it returns, no Work is left
// that nobody has waited for.
#pragma once

#include <array>
#include <functional>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. `mine` goes to `partner` and its tensor, as long as mine, comes into `theirs`; the partner calls
// the same with this rank. Both directions are under way at once, so it takes no longer than one of them.
// A rank may be its own partner.
void swap_with(const dist::Tensor& mine, dist::Tensor& theirs, int partner);

// Part 2. As part 1, and compute() runs once while the messages are under way. It touches neither tensor.
// It takes no longer than the longer one of the two, computation and transfer.
void overlap(const dist::Tensor& out, dist::Tensor& in, int partner, const std::function<void()>& compute);

// A grid, cut into slices of rows: `field` is this rank's, of shape [rows + 2, columns], rows >= 1.
//   field[0]            ghost row: a copy of the last row of rank - 1
//   field[1 ... rows]   this rank's own rows
//   field[rows + 1]     ghost row: a copy of the first row of rank + 1
// Rank 0 has nobody above and the last rank nobody below: these two ghost rows are the border of the grid,
// and nobody writes them. All ranks have the same shape.
//
// Part 3. Fills the ghost rows with the neighbours' present rows, by one batch_isend_irecv. Own rows and the
// border stay as they are.
void exchange_ghosts(dist::Tensor& field);

// Makes one row of the next moment out of three rows of this one: `row`, and those above and below it. It
// writes all of `next`, and takes its time.
using RowRule = std::function<void(const dist::Tensor& above, const dist::Tensor& row,
                                   const dist::Tensor& below, dist::Tensor& next)>;

// Part 4. So many steps of the rule: in each, every own row is made anew, once, from the rows as they were
// before the step; the border never changes. The exchange of a step is under way while the rule makes the
// rows that need no ghost row. Afterwards field[1 ... rows] is the result (`field` may then be another tensor
// of this shape) and the ghost rows within the grid are anything.
// A step takes no longer than the longer one of exchange and inner rows, and after that the edge rows.
void relax(dist::Tensor& field, int steps, const RowRule& rule);

// Part 5. `blocks` messages from one rank to another, in order. Each side has two buffers, all of one shape,
// and uses no other tensor: block i lies in buffers[i % 2].
using Buffers = std::array<dist::Tensor, 2>;

// Calls produce(i, buffer), which writes all of the buffer, for i = 0, 1, ..., and sends each block to
// `consumer`. Block i + 1 is produced while block i is under way.
void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, dist::Tensor& block)>& produce);

// Receives each block from `producer` and calls consume(i, buffer), which reads it, in order. Block i + 1 may
// come in while block i is consumed.
// The whole stream takes no longer than its slowest part (production, transfer or consumption) takes for all
// blocks, and the other two for one.
void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const dist::Tensor& block)>& consume);

}  // namespace lab
