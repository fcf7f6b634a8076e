// Collectives of ranks that map each other's memory (peer_memory.h): nothing is sent, each rank
// reads and writes the data in place.
//
// Small data is published as a copy and read by the ranks that need it: one synchronisation, and no rank
// waits for the readers. Large data stays where it is. The ranks share the work: each takes one n-th of the
// elements, or its own result, reads it from every rank and writes it to every rank that wants it, between
// two synchronisations.
//
// S bytes, n ranks; h: one synchronisation; c: seconds per byte copied; gamma: per byte reduced. "Small":
// what is better published as a copy (collectives/cost/direct_sizes.h).
//   all_reduce one_shot     h + n c S + (n-1) gamma S       each rank reads n-1 copies; large data in pieces
//   all_reduce two_shot     2 h + c S + (n-1)/n gamma S     each rank reads S/n of n ranks, writes it to n
//   broadcast               2 h + (n-1)/n c S               each rank copies S/n; bounced: it reads S;
//                                                           small: h + 2 c S
//   reduce                  2 h + c S/n + (n-1)/n gamma S   small, and few ranks: h + c S + (n-1) gamma S
//   scatter                 2 h + c S/n                     S: the root's list
//   gather                  2 h + c S/n                     small: the root reads, 2 h + (n-1)/n c S
//   all_gather              2 h + (n-1)/n c S               each rank writes its part to all; small: reads
//   all_to_all              2 h + (n-1)/n c S               each rank reads its own parts
//   reduce_scatter          2 h + (n-1)/n gamma S           small: h + (n-1)/n (c + gamma) S
//   barrier                 h
// Data for several ranks (the parts of a broadcast and of an all_gather) is read from memory once. Between a
// root's list and the other ranks, each of these copies its own part; a root that works in place has no part
// of its own and takes an n-th of each. Memory that the others do not map (Tensor::from_blob) passes through
// bounce buffers (bounce_steps.h), in any mixture of ranks and tensors: its owner copies what others read of
// it, and what they wrote, once more within the cache, (n-1)/n c S in each direction for an all_reduce, and
// the ranks meet for every bounce_bytes. Where the ranks do not map each other at all, the same work is done
// by messages (collectives/algorithms.h). All ranks end with the same bits: an element is reduced once, in
// rank order, or (one_shot) by every rank in that order.
#pragma once

#include "dist/collectives/algorithms.h"
#include "dist/direct/bounce_steps.h"

namespace dist {

// One call: the ranks that work on it, and what they must agree on.
struct DirectCall {
  using Round = dist::Round;
  using Steps = dist::BounceSteps;
  static constexpr bool has_bounce_buffers = true;  // for memory that others do not map
  PeerMemory& peers;
  RoundTerms terms;
  const CallLabel& label;
};

// The arguments are as in the table in collectives/algorithms.h; op may also be avg, but not premul_sum.
using DirectFunction = void (*)(const DirectCall& call, const CollectiveArgs& args);

// What runs an entry of that table (not a copy of one) where ranks map each other's memory; null where
// entry.direct is false.
DirectFunction direct_function(const AlgorithmEntry& entry);

}  // namespace dist
