// Misconception: as long as one rank has a batch there is something to learn.
//
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: goes_on_with_the_longest
#include "mutant.h"
#define run_epoch right_run_epoch
#include DIST_SOLUTION
#undef run_epoch

namespace lab {

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  for (std::int64_t steps = 0;; ++steps) {
    const auto batch = next();
    auto somebody_has_one = dist::full({1}, batch ? 1 : 0, dist::DType::i64);
    dist::all_reduce(somebody_has_one, dist::ReduceOp::max);
    if (somebody_has_one.item<std::int64_t>() == 0) return steps;
    step(batch.value_or(0));
  }
}

}  // namespace lab
