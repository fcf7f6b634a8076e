// Misconception: two trees carry two halves, whichever carries which.
//
// Killed by: Part3AllReduce.twice_the_data
// Diagnosis: halves_swapped
#include "mutant.h"
#define double_tree_all_reduce right_double_tree_all_reduce
#include DIST_SOLUTION
#undef double_tree_all_reduce

namespace lab {

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  std::array<Segments, 2> halves;
  for (const std::size_t tree : {0, 1}) halves[tree] = segments_of(data.chunk(2)[1 - tree], segment);
  int turns = static_cast<int>(std::max(halves[0].size(), halves[1].size()));
  for (int reached = 1; reached < n; reached *= 2) turns += 2;
  Sums came;
  const auto phases = timetable(rank, n);
  for (int turn = 0; turn < turns; ++turn) {
    for (const Phase& phase : phases) run_phase(phase, turn, halves, came);
  }
}

}  // namespace lab
