// Misconception: a double tree of n ranks has log2 n levels, rounded down. (It was only tried with powers of
// two.)
//
// Killed by: Part2Predict.double_tree
// Diagnosis: levels_rounded_down
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::double_tree) return right_predict(algorithm, machine, bytes);
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  const double levels = std::floor(std::log2(machine.ranks()));
  return (4 * levels - 2) * port(c, bytes / 2) + 2 * levels * c.alpha;
}

}  // namespace lab
