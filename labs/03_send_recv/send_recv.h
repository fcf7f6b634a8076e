// Lab 03, the contract: messages between two ranks, and the order in which they are sent and received.
// You write these functions in send_recv.cpp; this file stays as it is.
//
// Every rank of the default group calls the same function. All tensors are one-dimensional f32, as long on
// one rank as on the other, possibly of zero elements: an empty tensor is a message like any other. Parts 1
// to 3 use dist::send and dist::recv, the blocking ones, and nothing else that talks to other ranks. They
// must end whether a send waits for its receiver (rendezvous) or returns at once (eager).
#pragma once

#include <vector>

#include "dist/core/tensor.h"

namespace lab {

// Part 1. Rank 0's `t` holds numbers; what the other ranks' hold does not matter. The numbers travel from
// rank 0 to 1 to 2 and on to the last, and each rank but rank 0 doubles what it has received before it passes
// it on. Afterwards rank r's `t` holds 2^r times rank 0's numbers, and rank 0's what it held before. One
// message from each rank to the next, no other; a world of one rank sends none.
void relay(dist::Tensor& t);

// Part 2. Ranks pair up: each calls this with the rank it exchanges with, which names it in turn. Afterwards
// `theirs` holds what the partner's `mine` holds. A rank may be its own partner: then it sends nothing, and
// `theirs` is filled with a copy of `mine`.
//
// One message from each of the two to the other, in two rounds (a round: see part 3). `mine` is not changed.
// `theirs` is filled where it lies: it does not become a name for other memory.
void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner);

// Part 3. The ranks stand in a ring: after the last comes rank 0. Every rank gives `out` to the next one;
// afterwards `in` holds the previous one's `out`. Works on rings of every size, odd ones too; a ring of one
// rank sends nothing, and `in` is filled with a copy of `out`.
//
// One message from each rank to the next, no other. The whole shift takes at most 3 rounds, however large the
// ring is, counted where sends wait for their receivers. A round is the time of one message: who blocks in a
// send or a receive for a round does nothing else in it. `out` is not changed, and `in` is filled where it
// lies.
void ring_shift(const dist::Tensor& out, dist::Tensor& in);

// Part 4. Some ranks are blocked: waits_for[r] is the rank that rank r waits for, r itself possibly, or -1
// when rank r is not blocked. Returns the ranks that can never go on because they wait for each other in a
// cycle: first the smallest of them, then the one it waits for, and so on round the cycle. Empty when there
// is no cycle. Ranks that wait for somebody in the cycle, but for whom nobody in the cycle waits, are not
// part of it. If there are several cycles, the one with the smallest rank.
std::vector<int> wait_cycle(const std::vector<int>& waits_for);

}  // namespace lab
