// Misconception: all ranks take part in the step, so all of them count.
//
// Killed by: Part4Loss.each_token_counts_once
// Diagnosis: counts_every_rank
#include "mutant.h"
#define mean_loss right_mean_loss
#include DIST_SOLUTION
#undef mean_loss

namespace lab {

MeanLoss mean_loss(const Mesh&, const std::string&, double sum, std::int64_t tokens) {
  const auto all = summed({sum, static_cast<double>(tokens)}, {});
  return {all[0] / all[1], static_cast<std::int64_t>(all[1])};
}

}  // namespace lab
