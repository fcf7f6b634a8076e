// Misconception: all parameters of a layer that is divided are divided.
//
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: cuts_the_row_bias
#include "mutant.h"
#define cut_row right_cut_row
#include DIST_SOLUTION
#undef cut_row

namespace lab {

Linear cut_row(const Linear& whole, const ProcessGroup& group) {
  const Linear right = right_cut_row(whole, group);
  return with_gradients(right.weight, copy_of_rows(whole.bias, own_part(whole.bias.size(0), group)));
}

}  // namespace lab
