// Misconception: n ranks together have n times the batch, so their gradients are added.
//
// Killed by: Part2Average.means_over_the_ranks
// Diagnosis: sums_without_averaging
#include "mutant.h"
#define average_gradients right_average_gradients
#include DIST_SOLUTION
#undef average_gradients

namespace lab {

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) dist::all_reduce(gradient);
}

}  // namespace lab
