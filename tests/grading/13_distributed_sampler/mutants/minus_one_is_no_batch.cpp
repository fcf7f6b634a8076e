// Misconception: no batch has the number -1, so -1 can stand for "no more batches".
//
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: a_batch_that_is_taken_for_none
#include "mutant.h"
#define run_epoch right_run_epoch
#include DIST_SOLUTION
#undef run_epoch

namespace lab {

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  for (std::int64_t steps = 0;; ++steps) {
    const std::int64_t batch = next().value_or(-1);
    auto all_have_one = dist::full({1}, batch != -1 ? 1 : 0, dist::DType::i64);
    dist::all_reduce(all_have_one, dist::ReduceOp::min);
    if (all_have_one.item<std::int64_t>() == 0) return steps;
    step(batch);
  }
}

}  // namespace lab
