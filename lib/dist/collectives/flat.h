// Flat algorithms: the root exchanges messages with every other rank itself, n - 1 messages through its one
// port. They are the simplest, the right ones for two or three ranks, and for scatter and gather never worse
// in bytes: the root must move each part once anyway.
//
//   broadcast  (n-1)(o + beta S) + alpha              n-1 rounds, the root sends (n-1) S bytes
//   reduce     (n-1)(o + beta S) + alpha + gamma S    n-1 rounds, the root receives (n-1) S bytes
//   scatter    (n-1) o + (n-1)/n beta S + alpha       n-1 rounds, S: the root's whole list
//   gather     (n-1) o + (n-1)/n beta S + alpha       n-1 rounds
// Messages at one port follow each other without waiting for each other's latency (o: overhead,
// README.md), and in reduce a sum overlaps with the next message as long as gamma S <= o + beta S. Ranks are
// served in the order root+1, root+2, ...; every rank but the root takes part in one message.
#pragma once

#include <span>

#include "dist/transport/transport.h"

namespace dist {

// In place. No scratch.
void flat_broadcast(Transport& net, TensorView data, int root);

// On the root: contribution and result; on the other ranks the contribution, unchanged. Scratch: one inbox on
// the root.
void flat_reduce(Transport& net, TensorView data, ReduceOp op, int root);

// ins (on the root): one view per rank, counts may differ; out on every rank, may be ins[root] on the root.
// No scratch.
void flat_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, int root);

// in on every rank, counts may differ; outs (on the root): one view per rank; in may be outs[root]. No
// scratch.
void flat_gather(Transport& net, TensorView in, std::span<const TensorView> outs, int root);

}  // namespace dist
