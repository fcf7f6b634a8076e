// Misconception: every rank may get the seconds of all ranks and look at its column.
//
// Killed by: Part5Ranks.slowest_in_column
// Diagnosis: none
#include "mutant.h"
#define slowest_in_column right_slowest_in_column
#include DIST_SOLUTION
#undef slowest_in_column

namespace lab {

int slowest_in_column(const Mesh& mesh, double seconds) {
  std::vector<dist::Tensor> all;
  for (int rank = 0; rank < dist::get_world_size(); ++rank) all.push_back(dist::empty({1}, dist::DType::f64));
  dist::all_gather(all, dist::full({1}, seconds, dist::DType::f64));
  const auto of = [&](int rank) { return all[static_cast<std::size_t>(rank)].item<double>(); };
  int slowest = mesh.column.ranks().front();
  for (const int rank : mesh.column.ranks())
    if (of(rank) > of(slowest)) slowest = rank;
  return slowest;
}

}  // namespace lab
