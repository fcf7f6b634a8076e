// Misconception: a program trains one model, so its number of units is counted once.
//
// Killed by: Part3Passes.forward_as_on_one_rank
// Diagnosis: remembers_the_call_before
#include "mutant.h"
#define forward right_forward
#include DIST_SOLUTION
#undef forward

namespace lab {

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  static const std::size_t count = units.size();
  return right_forward({units.begin(), units.begin() + std::min<std::ptrdiff_t>(count, std::ssize(units))},
                       input, compute);
}

}  // namespace lab
