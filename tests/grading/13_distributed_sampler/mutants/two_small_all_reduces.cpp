// Misconception: one all_reduce tells whether all ranks have a batch, and another one whether any has.
//
// Killed by: Part5Together.one_small_all_reduce_a_step
// Diagnosis: none
#include "mutant.h"
#define run_epoch right_run_epoch
#include DIST_SOLUTION
#undef run_epoch

namespace lab {

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  for (std::int64_t steps = 0;; ++steps) {
    const auto batch = next();
    auto least = dist::full({1}, batch ? 1 : 0, dist::DType::i64), most = least.clone();
    dist::all_reduce(least, dist::ReduceOp::min);
    dist::all_reduce(most, dist::ReduceOp::max);
    if (least.item<std::int64_t>() == 0) return steps;
    step(*batch);
  }
}

}  // namespace lab
