// Misconception: rows are dealt like cards: one to each rank, then again.
//
// Killed by: Part3Rows.every_row
// Diagnosis: dealt_in_turn
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  if (dist::get_rank() != root) return right_scatter_rows(all, columns, root);
  const int n = dist::get_world_size();
  const Tensor dealt = dist::empty(all.shape());
  std::int64_t next = 0;
  for (int rank = 0; rank < n; ++rank) {
    for (std::int64_t row = rank; row < all.size(0); row += n, ++next) {
      Tensor place = dealt.narrow(next, 1);
      place.copy_(all.narrow(row, 1));
    }
  }
  return right_scatter_rows(dealt, columns, root);
}

}  // namespace lab
