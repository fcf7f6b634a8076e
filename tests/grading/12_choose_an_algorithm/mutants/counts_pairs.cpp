// Misconception: if every rank sends to every other, there are n(n-1)/2 transfers, as the course notes say.
// (These are pairs, and each has two directions.)
//
// Killed by: Part2Predict.bytes_of_each
// Diagnosis: counts_pairs
#include "mutant.h"
#define traffic right_traffic
#include DIST_SOLUTION
#undef traffic

namespace lab {

Traffic traffic(Algorithm algorithm, int ranks, double bytes) {
  auto counted = right_traffic(algorithm, ranks, bytes);
  if (algorithm == Algorithm::naive) counted.total /= 2;
  return counted;
}

}  // namespace lab
