// Misconception: the output is cleared first. (`mine` may be a part of it.)
//
// Killed by: Part1AllGather.in_place
// Diagnosis: input_changed
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& all, const Tensor& mine) {
  all.zero_();
  right_all_gather(all, mine);
}

}  // namespace lab
