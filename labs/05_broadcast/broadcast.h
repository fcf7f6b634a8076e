// Lab 05, the specification: one rank's tensor is sent to all ranks of a group, by three algorithms; and a
// use. You write these functions in broadcast.cpp. Do not change this file.
//
// Parts 1 to 3: every rank of `group` calls the function; an empty group means the world. Ranks are group
// ranks, 0 ... n - 1, where n is the size of the group; `root` is one of them. `data` has the same shape and
// dtype on all ranks: any dtype, any number of elements, possibly none. Afterwards `data` holds the root's
// elements on every rank. It is written in place, that is, in the memory that the caller gave; on the root it
// is not changed.
//
// Allowed calls: send, recv, isend, irecv, batch_isend_irecv and, in Part 4, new_group. The library's
// collectives are not allowed.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. The flat broadcast.
// - Constraint: the root sends to every other rank, n - 1 messages one after the other. No other rank sends.
// - Example: 5 ranks, root 2: the messages are 2 -> 0, 2 -> 1, 2 -> 3 and 2 -> 4.
void flat_broadcast(dist::Tensor& data, int root, const dist::ProcessGroup& group = {});

// Part 2. The broadcast along a binomial tree: every rank that has the data helps to pass it on.
// - Constraint: at most ceil(log2 n) rounds, for every n and every root. Every rank except the root receives
//   exactly one message: n - 1 messages in all.
// - Example: 8 ranks, root 0: 0 sends to 4, 2 and 1; 4 sends to 6 and 5; 2 sends to 3; 6 sends to 7.
void tree_broadcast(dist::Tensor& data, int root, const dist::ProcessGroup& group = {});

// Part 3. The broadcast along a chain, in segments: root -> root + 1 -> ... (after n - 1 comes 0).
// - Input: `segment` is the number of elements per message, positive. The last message has what is left.
// - Constraint: each rank except the last sends the whole data to its successor, in ceil(numel / segment)
//   messages (none if there are no elements), and sends nothing to other ranks. It passes one segment on
//   while the next one arrives: m segments take at most n - 2 + m rounds (n > 1).
// - Example: 3 ranks, root 1, 10 elements, segment 4: messages of 4, 4 and 2 elements go from 1 to 2 and from
//   2 to 0, in 4 rounds.
void chain_broadcast(dist::Tensor& data, int root, std::int64_t segment,
                     const dist::ProcessGroup& group = {});

// Part 4. Sends new weights from a trainer to the servers. EVERY rank of the world calls it, with the same
// ranks, shapes and bucket_elements.
// - Input: `trainers` and `servers` are global ranks in any order; no rank occurs twice or in both, and some
//   ranks may be in neither. `parameters` are f32 tensors of any shapes. trainers[0] has the new values.
// - Output: every rank in `servers` has the new values, in place. The parameters of all other ranks stay as
//   they are.
// - Constraint: only trainers[0] and the servers send and receive messages. The tensors travel in buckets, in
//   their order: a tensor joins the open bucket if the two together have at most bucket_elements elements;
//   otherwise it starts the next bucket. So a tensor larger than a bucket has a bucket of its own. A bucket
//   without elements is not sent. Every server receives exactly one message per bucket. trainers[0] sends at
//   most ceil(log2 n) messages per bucket, where n = 1 + number of servers.
// - Example: tensors of 5, 4, 6 and 12 elements with bucket_elements = 10 make three buckets: 5 + 4, 6 and
//   12.
void update_weights(std::vector<dist::Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements);

}  // namespace lab
