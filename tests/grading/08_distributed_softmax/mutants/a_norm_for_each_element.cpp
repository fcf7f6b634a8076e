// Misconception: each element has a norm of its own, so each has an all_reduce of its own.
//
// Killed by: Part1OverRanks.one_all_reduce
// Diagnosis: a_collective_for_each_element
#include "mutant.h"
#define normalize right_normalize
#include DIST_SOLUTION
#undef normalize

namespace lab {

void normalize(Tensor& data) {
  for (std::int64_t i = 0; i < data.numel(); ++i) {
    Tensor one = data.narrow(i, 1);
    right_normalize(one);
  }
}

}  // namespace lab
