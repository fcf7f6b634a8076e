// Misconception: the root's part is in the batch already, so narrow() is enough.
//
// Killed by: Part3Rows.every_row
// Diagnosis: view_of_the_batch
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const Tensor mine = right_scatter_rows(all, columns, root);
  if (dist::get_rank() != root) return mine;
  const Part part = part_of(all.size(0), root, dist::get_world_size());
  return all.narrow(part.first, part.count);
}

}  // namespace lab
