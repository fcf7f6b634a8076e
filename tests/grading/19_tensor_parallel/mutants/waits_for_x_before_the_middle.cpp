// Misconception: the gather of x has had the time of the second layer, so it is done. (It may take longer.)
//
// Killed by: Part5Sequence.collectives_are_hidden
// Diagnosis: waits_where_it_could_compute
#include "mutant.h"
#define sequence_backward right_sequence_backward
#include DIST_SOLUTION
#undef sequence_backward

namespace lab {

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  Gather all_grad = start_gather(grad, context.group);
  all_grad.work.wait();
  Gather all_x = start_gather(kept.x, context.group);
  const Tensor of_inner = row_backward(pair.second, kept.inner, all_grad.all, context);
  all_x.work.wait();
  const Tensor of_hidden = middle.backward(kept.hidden, of_inner);
  const Tensor of_x = context.input_gradient(of_hidden, pair.first.weight);
  Tensor mine = dist::empty(kept.x.shape(), of_x.dtype());
  dist::Work scatter = dist::reduce_scatter_tensor(mine, of_x, {.group = context.group, .async_op = true});
  context.add_gradients(pair.first, all_x.all, of_hidden);
  scatter.wait();
  return mine;
}

}  // namespace lab
