// Misconception: sending everything to every rank, which then slices out its part, is simple and gives the
// same result.
//
// Killed by: Part1Scatter.only_its_own_chunk
// Diagnosis: broadcast_and_slice
#include "mutant.h"
#define scatter right_scatter
#include DIST_SOLUTION
#undef scatter

namespace lab {

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  const int n = dist::get_world_size();
  const std::int64_t k = mine.numel();
  const Tensor all = dist::empty({n * k});
  for (int rank = 0; rank < n && dist::get_rank() == root; ++rank) {
    Tensor place = all.narrow(rank * k, k);
    place.copy_(list[static_cast<std::size_t>(rank)]);
  }
  for (int peer = 0; peer < n && dist::get_rank() == root; ++peer) {
    if (peer != root) dist::send(all, peer);
  }
  Tensor everything = all;
  if (dist::get_rank() != root) dist::recv(everything, root);
  mine.copy_(everything.narrow(dist::get_rank() * k, k));
}

}  // namespace lab
