// Misconception: the gradient is summed after each of the two layers, as it is not known which of them needs
// it.
//
// Killed by: Part2Pair.as_on_one_rank
// Diagnosis: sums_what_is_whole
#include "mutant.h"
#define pair_backward right_pair_backward
#include DIST_SOLUTION
#undef pair_backward

namespace lab {

Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context) {
  Tensor of_x = right_pair_backward(pair, kept, grad, middle, context);
  dist::all_reduce(of_x, {.group = context.group});
  return of_x;
}

}  // namespace lab
