// Misconception: how many messages bring the rows makes no difference.
//
// Killed by: Part3Rows.only_its_part
// Diagnosis: none
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor rows = dist::empty({1}, dist::DType::i64);
  if (rank != root) {
    dist::recv(rows, root);
    const auto count = part_of(rows.item<std::int64_t>(), rank, n).count;
    Tensor mine = dist::empty({count, columns});
    for (std::int64_t row = 0; row < count; ++row) {
      Tensor one = mine[row];
      dist::recv(one, root);
    }
    return mine;
  }
  rows.fill_(static_cast<double>(all.size(0)));
  for (int peer = 0; peer < n; ++peer) {
    if (peer == root) continue;
    const Part part = part_of(all.size(0), peer, n);
    dist::send(rows, peer);
    for (std::int64_t row = part.first; row < part.first + part.count; ++row) dist::send(all[row], peer);
  }
  const Part part = part_of(all.size(0), root, n);
  return all.narrow(part.first, part.count).clone();
}

}  // namespace lab
