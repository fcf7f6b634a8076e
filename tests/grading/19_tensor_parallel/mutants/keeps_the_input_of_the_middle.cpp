// Misconception: what the second layer needs in backward is what the first one gave.
//
// Killed by: Part2Pair.as_on_one_rank
// Diagnosis: keeps_the_wrong_activation
#include "mutant.h"
#define pair_forward right_pair_forward
#include DIST_SOLUTION
#undef pair_forward

namespace lab {

Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept) {
  const Tensor y = right_pair_forward(pair, x, middle, context, kept);
  kept.inner = kept.hidden;
  return y;
}

}  // namespace lab
