// Misconception: an epoch is over when this rank's batches are used up.
//
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: stops_alone
#include "mutant.h"
#define run_epoch right_run_epoch
#include DIST_SOLUTION
#undef run_epoch

namespace lab {

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  std::int64_t steps = 0;
  while (const auto batch = next()) {
    step(*batch);
    ++steps;
  }
  return steps;
}

}  // namespace lab
