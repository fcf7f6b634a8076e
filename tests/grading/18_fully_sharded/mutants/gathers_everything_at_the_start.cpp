// Misconception: the earlier all gathers are started, the better they are hidden.
//
// Killed by: Part4Prefetch.one_gather_ahead
// Diagnosis: gathers_everything_at_the_start
#include "mutant.h"
#define prefetching_forward right_prefetching_forward
#include DIST_SOLUTION
#undef prefetching_forward

namespace lab {

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  std::vector<Gather> gathers;
  for (const Unit& unit : units) gathers.push_back(start_gather(unit));
  for (std::size_t i = 0; i < units.size(); ++i)
    output = compute.run_forward(i, finish_gather(units[i], gathers[i]), output);
  return output;
}

}  // namespace lab
