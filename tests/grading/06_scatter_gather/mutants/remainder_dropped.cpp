// Misconception: rows / n rows per rank, n times, are all rows.
//
// Killed by: Part3Rows.every_row
// Diagnosis: remainder_dropped
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const int n = dist::get_world_size();
  const auto whole = [&] { return all.narrow(0, all.size(0) / n * n); };
  return right_scatter_rows(dist::get_rank() == root ? whole() : all, columns, root);
}

}  // namespace lab
