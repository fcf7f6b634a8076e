// Misconception: the sum over the ranks is an all_reduce, of which each rank takes its tokens.
//
// Killed by: Part5Sequence.gathers_and_scatters
// Diagnosis: all_reduces_and_cuts
#include "mutant.h"
#define sequence_forward right_sequence_forward
#include DIST_SOLUTION
#undef sequence_forward

namespace lab {

Tensor sequence_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                        Kept& kept) {
  kept.x = x;
  Gather all = start_gather(x, context.group);
  all.work.wait();
  kept.hidden = column_forward(pair.first, all.all, context);
  kept.inner = middle.forward(kept.hidden);
  const Tensor y = row_forward(pair.second, kept.inner, context);
  return copy_of_rows(y, {context.group.rank() * x.size(0), x.size(0)});
}

}  // namespace lab
