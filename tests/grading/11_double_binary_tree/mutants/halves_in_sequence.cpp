// Misconception: the first half goes along the first tree, and then the second half goes along the second.
//
// Killed by: Part3AllReduce.both_at_once
// Diagnosis: one_half_after_the_other
#include "mutant.h"
#define double_tree_all_reduce right_double_tree_all_reduce
#include DIST_SOLUTION
#undef double_tree_all_reduce

namespace lab {

// What the timetable says of one tree.
Phase of_tree(Phase phase, int tree) {
  std::erase_if(phase.sends, [&](const Hop& hop) { return hop.tree != tree; });
  std::erase_if(phase.receives, [&](const Hop& hop) { return hop.tree != tree; });
  return phase;
}

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  std::array<Segments, 2> halves;
  for (const std::size_t tree : {0, 1}) halves[tree] = segments_of(data.chunk(2)[tree], segment);
  int turns = static_cast<int>(std::max(halves[0].size(), halves[1].size()));
  for (int reached = 1; reached < n; reached *= 2) turns += 2;
  Sums came;
  for (const int tree : {0, 1}) {
    for (int turn = 0; turn < turns; ++turn) {
      for (const Phase& phase : timetable(rank, n)) run_phase(of_tree(phase, tree), turn, halves, came);
    }
  }
}

}  // namespace lab
