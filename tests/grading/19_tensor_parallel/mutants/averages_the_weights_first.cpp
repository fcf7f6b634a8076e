// Misconception: the ranks' copies of the whole weight may differ, so they are averaged before they are cut.
//
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: reduces_too_much
#include "mutant.h"
#define cut_column right_cut_column
#include DIST_SOLUTION
#undef cut_column

namespace lab {

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  Linear equal{whole.weight.clone(), whole.bias.clone(), {}, {}};
  dist::all_reduce(equal.weight, dist::ReduceOp::avg, {.group = group});
  return right_cut_column(equal, group);
}

}  // namespace lab
