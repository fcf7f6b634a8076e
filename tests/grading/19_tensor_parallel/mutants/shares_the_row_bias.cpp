// Misconception: every rank has the whole bias, so there is nothing to copy.
//
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: shares_memory_with_the_whole
#include "mutant.h"
#define cut_row right_cut_row
#include DIST_SOLUTION
#undef cut_row

namespace lab {

Linear cut_row(const Linear& whole, const ProcessGroup& group) {
  return with_gradients(right_cut_row(whole, group).weight, whole.bias);
}

}  // namespace lab
