// Misconception: two tensors for what leaves are enough, so a rank waits for the send before the one that it
// has just started. (Its receiver may be several computations behind.)
//
// Killed by: Part3Step.a_send_delays_no_computation
// Diagnosis: waits_for_its_sends
#include "mutant.h"
#define emplace_back(tensor, work) \
  emplace_back(tensor, (sends.empty() ? void() : sends.back().second.wait(), work))
#include DIST_SOLUTION
