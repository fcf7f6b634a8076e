// Misconception: backward of the middle needs what the middle computed.
//
// Killed by: Part2Pair.as_on_one_rank
// Diagnosis: gives_the_middle_its_own_output
#include "mutant.h"
#define pair_backward right_pair_backward
#include DIST_SOLUTION
#undef pair_backward

namespace lab {

Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context) {
  return right_pair_backward(
      pair, {kept.x, kept.hidden.numel() == kept.inner.numel() ? kept.inner : kept.hidden, kept.inner}, grad,
      middle, context);
}

}  // namespace lab
