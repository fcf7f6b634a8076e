// Misconception: a new gradient replaces the old one.
//
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: overwrites_the_gradient
#include "mutant.h"
#define finish_reduction right_finish_reduction
#include DIST_SOLUTION
#undef finish_reduction

namespace lab {

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.copy_(reduction.mean);
  reduction = {};
}

}  // namespace lab
