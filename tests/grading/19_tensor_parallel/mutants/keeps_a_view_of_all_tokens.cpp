// Misconception: a view of this rank's tokens takes no memory.
//
// Killed by: Part5Sequence.only_own_tokens_are_kept
// Diagnosis: keeps_all_tokens
#include "mutant.h"
#define sequence_forward right_sequence_forward
#include DIST_SOLUTION
#undef sequence_forward

namespace lab {

Tensor sequence_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                        Kept& kept) {
  Gather all = start_gather(x, context.group);
  all.work.wait();
  kept.x = all.all.narrow(context.group.rank() * x.size(0), x.size(0));
  kept.hidden = column_forward(pair.first, all.all, context);
  kept.inner = middle.forward(kept.hidden);
  const bool adds_bias = context.group.rank() == 0;
  const Tensor y = context.multiply(kept.inner, pair.second.weight, adds_bias ? pair.second.bias : Tensor{});
  Tensor mine = dist::empty({x.size(0), y.size(1)}, y.dtype());
  dist::reduce_scatter_tensor(mine, y, {.group = context.group});
  return mine;
}

}  // namespace lab
