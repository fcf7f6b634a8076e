// Misconception: every rank counts its batches first, and one all_reduce finds the smallest number. (All
// batches would have to fit into memory.)
//
// Killed by: Part5Together.one_small_all_reduce_a_step
// Diagnosis: takes_all_batches_first
#include "mutant.h"
#define run_epoch right_run_epoch
#include DIST_SOLUTION
#undef run_epoch

namespace lab {

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  std::vector<std::int64_t> batches;
  while (const auto batch = next()) batches.push_back(*batch);
  auto steps = dist::full({1}, static_cast<double>(batches.size()), dist::DType::i64);
  dist::all_reduce(steps, dist::ReduceOp::min);
  for (std::int64_t i = 0; i < steps.item<std::int64_t>(); ++i) step(batches[static_cast<std::size_t>(i)]);
  return steps.item<std::int64_t>();
}

}  // namespace lab
