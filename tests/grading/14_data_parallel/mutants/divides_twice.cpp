// Misconception: all_reduce always sums, whatever the operation, so I divide afterwards.
//
// Killed by: Part2Average.means_over_the_ranks
// Diagnosis: divides_twice
#include "mutant.h"
#define average_gradients right_average_gradients
#include DIST_SOLUTION
#undef average_gradients

namespace lab {

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) {
    dist::all_reduce(gradient, dist::ReduceOp::avg);
    gradient.div_(dist::get_world_size());
  }
}

}  // namespace lab
