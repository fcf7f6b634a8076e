// Misconception: what was reduced may stay where it is until the next reduction.
//
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: none
#include "mutant.h"
#define finish_reduction right_finish_reduction
#include DIST_SOLUTION
#undef finish_reduction

namespace lab {

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.add_(reduction.mean);
}

}  // namespace lab
