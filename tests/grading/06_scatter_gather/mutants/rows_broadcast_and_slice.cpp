// Misconception: uneven parts cannot be scattered, so every rank gets all rows and slices out its part.
//
// Killed by: Part3Rows.only_its_part
// Diagnosis: broadcast_and_slice
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor rows = dist::empty({1}, dist::DType::i64), everything = all;
  if (rank == root) {
    rows.fill_(static_cast<double>(all.size(0)));
    for (int peer = 0; peer < n; ++peer) {
      if (peer == root) continue;
      dist::send(rows, peer);
      dist::send(all, peer);
    }
  } else {
    dist::recv(rows, root);
    everything = dist::empty({rows.item<std::int64_t>(), columns});
    dist::recv(everything, root);
  }
  const Part part = part_of(everything.size(0), rank, n);
  return everything.narrow(part.first, part.count).clone();
}

}  // namespace lab
