// Misconception: a part of a layer is a part of all its tensors.
//
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: cuts_the_gradients
#include "mutant.h"
#define cut_row right_cut_row
#include DIST_SOLUTION
#undef cut_row

namespace lab {

Linear cut_row(const Linear& whole, const ProcessGroup& group) {
  const Range own = own_part(whole.weight.size(1), group);
  return {copy_of_columns(whole.weight, own), whole.bias.clone(), copy_of_columns(whole.weight_gradient, own),
          whole.bias_gradient.clone()};
}

}  // namespace lab
