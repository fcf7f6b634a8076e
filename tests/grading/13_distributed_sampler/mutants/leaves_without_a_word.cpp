// Misconception: a rank without a batch does not have to take part any more.
//
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: leaves_without_a_word
#include "mutant.h"
#define run_epoch right_run_epoch
#include DIST_SOLUTION
#undef run_epoch

namespace lab {

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  std::int64_t steps = 0;
  while (const auto batch = next()) {
    auto all_have_one = dist::ones({1}, dist::DType::i64);
    dist::all_reduce(all_have_one, dist::ReduceOp::min);
    if (all_have_one.item<std::int64_t>() == 0) break;
    step(*batch);
    ++steps;
  }
  return steps;
}

}  // namespace lab
