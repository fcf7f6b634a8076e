// Misconception: the sum over the ranks must be divided by their number. (AVG has done so already.)
//
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: divides_twice
#include "mutant.h"
#define finish_reduction right_finish_reduction
#include DIST_SOLUTION
#undef finish_reduction

namespace lab {

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.add_(reduction.mean, 1.0 / dist::get_world_size());
  reduction = {};
}

}  // namespace lab
