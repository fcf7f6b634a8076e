// Bruck's algorithms: ceil(log2 n) rounds for any n, L below; in each, a rank sends to one rank and receives
// from one. They are good for small parts, where messages cost more than bytes. (Bruck, Ho, Kipnis, Upfal,
// Weathersby, "Efficient algorithms for all-to-all communications in multiport message-passing systems",
// 1997.)
//
// S: all of the data of one rank, in n equal parts.
//   all_gather   L alpha + (n-1)/n beta S    in round k a rank gets the parts of the next
//                                            min(2^k, n - 2^k) ranks
//   all_to_all   L alpha + h beta S          in round k it passes on the parts whose distance has bit k;
//                                            h: the bits set in 1 ... n-1, over n; L/2 when n = 2^L
// and all_gather by recursive doubling, for n = 2^L: ranks at distance 1, 2, 4, ... swap all that they have,
// at the same cost, between fixed pairs. For other n it is Bruck's. L rounds, L messages per rank. The result
// is put together in scratch memory and copied from there: c S more, and 2 (1 + h) c S in all_to_all (c:
// README.md).
#pragma once

#include <span>

#include "dist/transport/transport.h"

namespace dist {

// outs[i]: rank i's `in`; `in` may be outs[rank] itself. Counts may differ, but all ranks pass the same ones.
// Scratch: all of the outs.
void bruck_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs);
void recursive_doubling_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs);

// ins[i] goes to rank i, outs[i] comes from rank i, all of one size: a rank that passes on a part must know
// its size. Error{invalid_argument} before anything is sent where a rank's own sizes differ. Scratch: all of
// the ins, and twice half of them.
void bruck_all_to_all(Transport& net, std::span<const TensorView> ins, std::span<const TensorView> outs);

}  // namespace dist
