// Misconception: queries, keys and values are matrices of `width` rows each, so each of them is divided by
// rows.
//
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: cuts_across_heads
#include "mutant.h"
#define cut_heads right_cut_heads
#include DIST_SOLUTION
#undef cut_heads

namespace lab {

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  const std::int64_t width = whole.second.weight.size(1);
  const Range own = own_part(width, group);
  std::vector<Tensor> weights, biases;
  for (std::int64_t which = 0; which < 3; ++which) {
    weights.push_back(whole.first.weight.narrow(which * width + own.first, own.count));
    biases.push_back(whole.first.bias.narrow(which * width + own.first, own.count));
  }
  return {with_gradients(stacked(weights), stacked(biases)),
          with_gradients(copy_of_columns(whole.second.weight, own), whole.second.bias.clone())};
}

}  // namespace lab
