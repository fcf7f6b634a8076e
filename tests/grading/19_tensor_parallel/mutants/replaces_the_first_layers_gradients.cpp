// Misconception: with all tokens gathered, the gradients of the first layer are complete, so nothing is
// added.
//
// Killed by: Part5Sequence.as_on_one_rank
// Diagnosis: overwrites_the_gradients
#include "mutant.h"
#define sequence_backward right_sequence_backward
#include DIST_SOLUTION
#undef sequence_backward

namespace lab {

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  pair.first = with_gradients(pair.first.weight, pair.first.bias);
  return right_sequence_backward(pair, kept, grad, middle, context);
}

}  // namespace lab
