// Misconception: the number of rows says who sends: the rows come from the source of the first message.
//
// Killed by: Part3Rows.every_root
// Diagnosis: calls_mixed
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  if (dist::get_rank() == root) return right_scatter_rows(all, columns, root);
  Tensor rows = dist::empty({1}, dist::DType::i64);
  const int source = dist::recv(rows).source_rank();
  const Part part = part_of(rows.item<std::int64_t>(), dist::get_rank(), dist::get_world_size());
  Tensor mine = dist::empty({part.count, columns});
  if (part.count > 0) dist::recv(mine, source);
  return mine;
}

}  // namespace lab
