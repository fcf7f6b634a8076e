// Misconception: the L2 norm is that of the rank's own vector.
//
// Killed by: Part1OverRanks.normalize
// Diagnosis: norm_of_its_own
#include "mutant.h"
#define normalize right_normalize
#include DIST_SOLUTION
#undef normalize

namespace lab {

void normalize(Tensor& data) {
  const double squares = dist::sum(data * data);
  if (squares > 0) data.div_(std::sqrt(squares));
}

}  // namespace lab
