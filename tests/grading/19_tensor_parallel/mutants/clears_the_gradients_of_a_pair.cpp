// Misconception: one backward of a pair is one training step, so its gradients begin at zero.
//
// Killed by: Part2Pair.as_on_one_rank
// Diagnosis: overwrites_the_gradients
#include "mutant.h"
#define pair_backward right_pair_backward
#include DIST_SOLUTION
#undef pair_backward

namespace lab {

Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context) {
  for (Linear* layer : {&pair.first, &pair.second}) {
    layer->weight_gradient.zero_();
    layer->bias_gradient.zero_();
  }
  return right_pair_backward(pair, kept, grad, middle, context);
}

}  // namespace lab
