// Misconception: an optimizer needs a learning rate, and the rest has good defaults.
//
// Killed by: Part5Train.as_one_process_does
// Diagnosis: momentum_missing
#include "mutant.h"
#define train_model right_train_model
#include DIST_SOLUTION
#undef train_model

namespace lab {

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  Plan other = plan;
  other.momentum = 0;
  return right_train_model(model, train_samples, test_samples, other);
}

}  // namespace lab
