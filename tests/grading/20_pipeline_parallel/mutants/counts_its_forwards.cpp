// Misconception: forwards run in the order of the micro-batches, in every list.
//
// Killed by: Part3Step.any_list
// Diagnosis: none
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  Batch counted = batch;
  std::size_t forwards = 0;
  for (const auto& [kind, micro_batch] : actions) {
    if (kind != Kind::forward) continue;
    const auto j = static_cast<std::size_t>(micro_batch);
    counted.samples[j] = batch.samples[forwards];
    if (!batch.inputs.empty()) counted.inputs[j] = batch.inputs[forwards];
    ++forwards;
  }
  return right_step(actions, counted, stage);
}

}  // namespace lab
