// Misconception: all ranks know the number of rows, because it is stored in the tensor.
//
// Killed by: Part3Rows.every_row
// Diagnosis: input_required_everywhere
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const Part part = part_of(all.size(0), dist::get_rank(), dist::get_world_size());
  const Tensor mine = right_scatter_rows(all, columns, root);
  return mine.view({part.count, columns});
}

}  // namespace lab
