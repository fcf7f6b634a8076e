// Misconception: the more gathers are ahead, the more is hidden.
//
// Killed by: Part4Prefetch.forward_hides_all_but_the_first_gather
// Diagnosis: gathers_two_ahead
#include "mutant.h"
#define prefetching_forward right_prefetching_forward
#include DIST_SOLUTION
#undef prefetching_forward

namespace lab {

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  std::vector<Gather> ahead;
  const auto start = [&] {
    if (ahead.size() < units.size()) ahead.push_back(start_gather(units[ahead.size()]));
  };
  start();
  start();
  Tensor output = input;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Tensors parameters = finish_gather(units[i], ahead[i]);
    start();
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}

}  // namespace lab
