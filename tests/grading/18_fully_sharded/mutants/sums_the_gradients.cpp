// Misconception: the gradients of all ranks belong together, so they are added.
//
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: sums_without_averaging
#include "mutant.h"
#define finish_reduction right_finish_reduction
#include DIST_SOLUTION
#undef finish_reduction

namespace lab {

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.add_(reduction.mean, dist::get_world_size());
  reduction = {};
}

}  // namespace lab
