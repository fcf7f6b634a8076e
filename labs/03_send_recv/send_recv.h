// Lab 03, the specification: messages between two ranks, and the order of sends and receives.
// You write these functions in send_recv.cpp. Do not change this file.
//
// In Parts 1 to 3 every rank of the default group calls the function. All tensors are one-dimensional f32 and
// have the same length on all ranks. The length may be 0: an empty tensor is a message like any other. Only
// dist::send and dist::recv, the blocking calls, may be used, and no other call that communicates. The
// functions must complete both if a send waits for its receiver (rendezvous) and if it returns at once
// (eager). Part 4 communicates with no rank.
#pragma once

#include <vector>

#include "dist/core/tensor.h"

namespace lab {

// Part 1. Passes numbers from rank to rank, doubled each time.
// - Input: rank 0's `t`. What `t` holds on the other ranks does not matter.
// - Output: on rank r, `t` holds 2^r times rank 0's numbers; on rank 0 it is unchanged.
// - Constraint: the numbers travel from rank 0 to 1 to 2 and so on to the last rank. Every rank except rank 0
//   doubles what it has received before it passes it on. One message from each rank to the next, and no
//   other; with one rank there is no message.
// - Example: rank 0 has [100, 200]. Afterwards rank 1 has [200, 400] and rank 2 has [400, 800].
void relay(dist::Tensor& t);

// Part 2. Exchanges tensors with a partner, which calls the function with this rank as its partner.
// - Output: `theirs` holds the partner's `mine`. It is written in the memory that the caller gave: the handle
//   must not refer to other memory afterwards. `mine` is not changed.
// - Constraint: one message in each direction, in two rounds (for the term round, see Part 3). A rank may be
//   its own partner; then it sends nothing, and copies `mine` into `theirs`.
// - Example: ranks 1 and 2 are partners and have [11] and [12]. Afterwards `theirs` is [12] on rank 1 and
//   [11] on rank 2.
void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner);

// Part 3. Shifts tensors by one rank around a ring: after the last rank comes rank 0.
// - Output: `in` holds the `out` of the previous rank. It is written in the memory that the caller gave.
//   `out` is not changed.
// - Constraint: one message from each rank to the next, and no other. Rings of every size must work, also odd
//   ones; a ring of one rank sends nothing, and copies `out` into `in`. The whole shift takes at most 3
//   rounds, however large the ring is, if sends wait for their receivers. A round is the time of one message:
//   a rank that is blocked in a send or a receive for one round does nothing else in it.
// - Example: three ranks have [10], [11] and [12]. Afterwards `in` is [12] on rank 0, [10] on rank 1 and [11]
//   on rank 2.
void ring_shift(const dist::Tensor& out, dist::Tensor& in);

// Part 4. Finds the ranks that cause a deadlock.
// - Input: waits_for[r] is the rank that rank r waits for (possibly r itself), or -1 if rank r is not
//   blocked.
// - Output: the ranks that can never continue because they wait for each other in a cycle: first the smallest
//   of them, then the rank that it waits for, and so on around the cycle. The list is empty if there is no
//   cycle. If there are several cycles, return the one with the smallest rank.
// - Constraint: a rank that waits for a rank of the cycle belongs to the result only if it is in the cycle.
// - Example: wait_cycle({1, 2, 1}) is {1, 2}: rank 0 only waits for them. wait_cycle({1, -1}) is {}.
std::vector<int> wait_cycle(const std::vector<int>& waits_for);

}  // namespace lab
