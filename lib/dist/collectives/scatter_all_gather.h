// Broadcast as a scatter down the binomial tree and an all-gather along the ring: each rank first gets one
// chunk of n, then all ranks help to spread them. Every rank sends about 2S at most and the root no more than
// the others, without the chain's segments. (Van de Geijn; Barnett et al., "Interprocessor collective
// communication library", 1994; Thakur, Rabenseifner, Gropp 2005, section 4.1, for large messages.)
//
//   (L + n - 1) alpha + 2(n-1)/n beta S     L + n - 1 rounds; L = ceil(log2 n)
// when n is a power of two, and at most that for other n. In the scatter a rank sends its subtree's chunks
// (trees.h), in the all-gather n - 1 chunks.
#pragma once

#include "dist/transport/transport.h"

namespace dist {

// In place. No scratch.
void scatter_all_gather_broadcast(Transport& net, TensorView data, int root);

}  // namespace dist
