// Misconception: the batch of the plan is that of all ranks together.
//
// Killed by: Part5Train.as_one_process_does
// Diagnosis: batch_divided
#include "mutant.h"
#define train_model right_train_model
#include DIST_SOLUTION
#undef train_model

namespace lab {

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  Plan other = plan;
  other.batch_size = std::max<std::int64_t>(1, plan.batch_size / dist::get_world_size());
  return right_train_model(model, train_samples, test_samples, other);
}

}  // namespace lab
