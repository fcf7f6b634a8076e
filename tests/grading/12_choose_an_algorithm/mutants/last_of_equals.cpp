// Misconception: among algorithms that take the same time any one will do, so `<=` may keep the last one.
//
// Killed by: Part3Choose.on_one_node
// Diagnosis: last_of_equals
#include "mutant.h"
#define choose right_choose
#include DIST_SOLUTION
#undef choose

namespace lab {

Algorithm choose(const Machine& machine, double bytes) {
  Algorithm best = Algorithm::ring;
  for (const auto algorithm : all_algorithms)
    if (predict(algorithm, machine, bytes) <= predict(best, machine, bytes)) best = algorithm;
  return best;
}

}  // namespace lab
