// Misconception: the list has one result per epoch of the plan, so that its index is the number of the
// epoch.
//
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: results_of_epochs_not_run
#include "mutant.h"
#define train_model right_train_model
#include DIST_SOLUTION
#undef train_model

namespace lab {

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  auto results = right_train_model(model, train_samples, test_samples, plan);
  while (std::ssize(results) < plan.epochs) results.insert(results.begin(), EpochResult{});
  return results;
}

}  // namespace lab
