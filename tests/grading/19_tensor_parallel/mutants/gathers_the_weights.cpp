// Misconception: to compute a layer, a rank needs its whole weight: it is gathered first, as in fully sharded
// data parallelism.
//
// Killed by: Part2Pair.one_all_reduce_each_way
// Diagnosis: gathers_what_is_divided
#include "mutant.h"
#define pair_forward right_pair_forward
#include DIST_SOLUTION
#undef pair_forward

namespace lab {

Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept) {
  std::vector<Tensor> all;
  const Tensor& mine = pair.second.weight;
  const std::int64_t most = (mine.numel() / 64 + 1) * 64;
  for (int rank = 0; rank < context.group.size(); ++rank) all.push_back(dist::empty({most}, mine.dtype()));
  Tensor padded = dist::zeros({most}, mine.dtype());
  padded.narrow(0, mine.numel()).copy_(mine.view({mine.numel()}));
  dist::all_gather(all, padded, {.group = context.group});
  return right_pair_forward(pair, x, middle, context, kept);
}

}  // namespace lab
