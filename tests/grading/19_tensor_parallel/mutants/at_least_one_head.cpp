// Misconception: every rank computes something, so a rank without heads computes the last one.
//
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: none
#include "mutant.h"
#define cut_heads right_cut_heads
#include DIST_SOLUTION
#undef cut_heads

namespace lab {

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  const std::int64_t width = whole.second.weight.size(1), d = width / heads;
  Range own = own_part(heads, group);
  if (own.count == 0) own = {heads - 1, 1};
  std::vector<Tensor> weights, biases;
  for (std::int64_t which = 0; which < 3; ++which) {
    weights.push_back(whole.first.weight.narrow(which * width + own.first * d, own.count * d));
    biases.push_back(whole.first.bias.narrow(which * width + own.first * d, own.count * d));
  }
  const Range columns{own.first * d, own.count * d};
  return {with_gradients(stacked(weights), stacked(biases)),
          with_gradients(copy_of_columns(whole.second.weight, columns), whole.second.bias.clone())};
}

}  // namespace lab
