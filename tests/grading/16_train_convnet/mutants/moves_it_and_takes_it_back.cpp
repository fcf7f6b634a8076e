// Misconception: the model is on the CPU before, so it is on the CPU afterwards.
//
// Killed by: Part5Train.as_one_process_does
// Diagnosis: not_on_the_device
#include "mutant.h"
#define train_model right_train_model
#include DIST_SOLUTION
#undef train_model

namespace lab {

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  auto results = right_train_model(model, train_samples, test_samples, plan);
  model.to(dist::cpu);
  return results;
}

}  // namespace lab
