// Misconception: a tensor made from a double holds doubles. The default dtype is f32, as in PyTorch.
//
// Killed by: Part2HalfSum.keeps_all_digits_and_stays_in_its_half
// Diagnosis: rounded_to_f32
#include "mutant.h"
#define half_sum right_half_sum
#include DIST_SOLUTION
#undef half_sum

namespace lab {

double half_sum(const Halves& halves, double mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum, ReduceOp::sum, {.group = my_half(halves)});
  return sum.item<double>();
}

}  // namespace lab
