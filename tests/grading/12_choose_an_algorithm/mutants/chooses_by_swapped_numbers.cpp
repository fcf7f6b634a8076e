// Misconception: m and g are two names for numbers that one may take for each other; the choice follows.
//
// Killed by: Part3Choose.on_one_node
// Diagnosis: none
#include "mutant.h"
#define predict right_predict
#define choose right_choose
#include DIST_SOLUTION
#undef predict
#undef choose

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::hierarchical) return right_predict(algorithm, machine, bytes);
  Machine turned = machine;
  std::swap(turned.nodes, turned.gpus);
  return right_predict(algorithm, turned, bytes);
}

Algorithm choose(const Machine& machine, double bytes) {
  Algorithm best = Algorithm::ring;
  for (const auto algorithm : all_algorithms)
    if (predict(algorithm, machine, bytes) < predict(best, machine, bytes)) best = algorithm;
  return best;
}

}  // namespace lab
