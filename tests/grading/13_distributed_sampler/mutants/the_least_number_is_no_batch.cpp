// Misconception: no batch has the least of all numbers, so that can stand for "no more batches".
//
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: a_batch_that_is_taken_for_none
#include <limits>

#include "mutant.h"
#define run_epoch right_run_epoch
#include DIST_SOLUTION
#undef run_epoch

namespace lab {

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  constexpr auto none = std::numeric_limits<std::int64_t>::min();
  const auto without_the_least = [&]() -> std::optional<std::int64_t> {
    const std::int64_t batch = next().value_or(none);
    return batch == none ? std::nullopt : std::optional(batch);
  };
  return right_run_epoch(without_the_least, step);
}

}  // namespace lab
