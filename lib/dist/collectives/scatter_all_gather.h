// Broadcast as a scatter down the binomial tree and an all-gather: each rank first gets one chunk of n, then
// all ranks help to spread them. Every rank sends about 2S at most and the root no more than the others,
// without the chain's segments. The all-gather goes along the ring (van de Geijn; Barnett et al.,
// "Interprocessor collective communication library", 1994) or in Bruck's rounds, with far fewer messages
// where ranks are many (Thakur, Rabenseifner, Gropp 2005, section 4.1, use recursive doubling there, for
// medium sizes).
//
//   scatter_all_gather  (L + n - 1) alpha + 2(n-1)/n beta S   L + n - 1 rounds; L = ceil(log2 n)
//   scatter_bruck       2L alpha + 2(n-1)/n beta S            2L rounds
// when n is a power of two. In the scatter a rank sends its subtree's chunks (trees.h), in the all-gather n -
// 1 chunks. For other n scatter_all_gather takes at most that. scatter_bruck takes about that, and up to 1.4
// times as long: chunks that go past the end of the data travel in two messages, L - 1 more that cost o each,
// and a rank that has its chunk early takes the ports of others before they are in its round.
#pragma once

#include "dist/transport/transport.h"

namespace dist {

// In place. No scratch.
void scatter_all_gather_broadcast(Transport& net, TensorView data, int root);
void scatter_bruck_broadcast(Transport& net, TensorView data, int root);

}  // namespace dist
