// Misconception: a column-parallel layer divides the columns of its weight (as PyTorch stores it, these are
// its inputs).
//
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: cuts_the_other_axis
#include "mutant.h"
#define cut_column right_cut_column
#include DIST_SOLUTION
#undef cut_column

namespace lab {

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  const Range own = own_part(whole.weight.size(1), group);
  return with_gradients(copy_of_columns(whole.weight, own),
                        copy_of_rows(whole.bias, own_part(whole.bias.size(0), group)));
}

}  // namespace lab
