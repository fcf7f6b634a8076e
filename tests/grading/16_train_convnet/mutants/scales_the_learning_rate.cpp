// Misconception: n ranks have a batch n times as large, so the learning rate must be n times as large. (Some
// recipes do so; this plan says what the rate is.)
//
// Killed by: Part5Train.as_one_process_does
// Diagnosis: lr_scaled
#include "mutant.h"
#define train_model right_train_model
#include DIST_SOLUTION
#undef train_model

namespace lab {

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  Plan other = plan;
  other.lr *= dist::get_world_size();
  return right_train_model(model, train_samples, test_samples, other);
}

}  // namespace lab
