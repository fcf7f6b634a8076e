// Misconception: a rank without rows has nothing to return.
//
// Killed by: Part3Rows.few_rows
// Diagnosis: none
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const Tensor mine = right_scatter_rows(all, columns, root);
  return mine.numel() > 0 ? mine : Tensor();
}

}  // namespace lab
