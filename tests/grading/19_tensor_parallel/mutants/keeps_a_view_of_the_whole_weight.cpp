// Misconception: a view of some rows takes no memory, so it is the best part of a weight.
//
// Killed by: Part1Layers.only_parts_are_kept
// Diagnosis: keeps_the_whole_weight
#include "mutant.h"
#define cut_column right_cut_column
#include DIST_SOLUTION
#undef cut_column

namespace lab {

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  const Range own = own_part(whole.weight.size(0), group);
  return with_gradients(whole.weight.narrow(own.first, own.count), whole.bias.narrow(own.first, own.count));
}

}  // namespace lab
