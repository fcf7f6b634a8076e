// Lab 05, the contract: one rank's tensor to all ranks of a group, in three ways, and what it is good for.
// You write these functions in broadcast.cpp; this file stays as it is.
//
// Every rank of `group` calls flat_, tree_ and chain_broadcast; an empty group is the world. Inside an
// algorithm ranks are group ranks: 0 ... n - 1, n the group's size. `root` is one of them.
// `data` has the same shape and dtype on all of them, any dtype, any number of elements, also none.
// Afterwards it has the root's elements on every rank, in place: in the memory that the caller gave. The
// root's own stay as they are. Allowed are send, recv, isend, irecv, batch_isend_irecv and, in part 4,
// new_group; no collective of the library.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. The root sends to every other rank: n - 1 messages, one after the other, nobody else sends.
void flat_broadcast(dist::Tensor& data, int root, const dist::ProcessGroup& group = {});

// Part 2. The binomial tree: whoever has the data helps to pass it on. At most ceil(log2 n) rounds, for every
// n and every root. Every rank but the root receives exactly one message: n - 1 in all.
void tree_broadcast(dist::Tensor& data, int root, const dist::ProcessGroup& group = {});

// Part 3. The pipelined chain root -> root + 1 -> ... (after n - 1 comes 0): each rank but the last sends the
// whole data to its successor and to nobody else, and passes a segment on while the next one arrives.
// `segment` is positive. A message has that many elements, the last one what is left: ceil(numel / segment)
// messages a link, none when there are no elements. With m of them it takes at most n - 2 + m rounds (n > 1).
void chain_broadcast(dist::Tensor& data, int root, std::int64_t segment,
                     const dist::ProcessGroup& group = {});

// Part 4. Called by EVERY rank of the world, with the same ranks, shapes and bucket_elements. `trainers` and
// `servers` are global ranks, in any order, no rank twice, none in both; there may be ranks that are in
// neither. `parameters`: tensors of f32, of any shape. trainers[0] has the new ones; afterwards every rank in
// `servers` has them too, in place. All other ranks' parameters stay as they are, and no message goes to or
// from them. The tensors travel in buckets, in their order: a tensor joins the open bucket if the two
// together have at most bucket_elements elements, and else begins the next one. So a tensor larger than a
// bucket has one of its own. A bucket without elements is not sent. Every server receives exactly one message
// a bucket, and with n = 1 + servers ranks in the group trainers[0] sends at most ceil(log2 n) messages a
// bucket.
void update_weights(std::vector<dist::Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements);

}  // namespace lab
