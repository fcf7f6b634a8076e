// Misconception: all numbers are f64.
//
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: none
#include "mutant.h"
#define cut_heads right_cut_heads
#include DIST_SOLUTION
#undef cut_heads

namespace lab {

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  Pair pair = right_cut_heads(whole, heads, group);
  for (Linear* layer : {&pair.first, &pair.second})
    for (Tensor* t : {&layer->weight, &layer->bias, &layer->weight_gradient, &layer->bias_gradient})
      *t = t->to(dist::DType::f64);
  return pair;
}

}  // namespace lab
