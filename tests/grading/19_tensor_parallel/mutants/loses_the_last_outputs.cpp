// Misconception: outputs / n outputs per rank; the division leaves no remainder.
//
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: loses_the_last_entries
#include "mutant.h"
#define cut_column right_cut_column
#include DIST_SOLUTION
#undef cut_column

namespace lab {

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  const std::int64_t count = whole.weight.size(0) / group.size();
  const Range own{group.rank() * count, count};
  return with_gradients(copy_of_rows(whole.weight, own), copy_of_rows(whole.bias, own));
}

}  // namespace lab
