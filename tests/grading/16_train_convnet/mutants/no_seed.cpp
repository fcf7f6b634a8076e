// Misconception: the sampler shuffles by itself, so it needs no seed.
//
// Killed by: Part5Train.as_one_process_does
// Diagnosis: seed_forgotten
#include "mutant.h"
#define train_model right_train_model
#include DIST_SOLUTION
#undef train_model

namespace lab {

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  Plan other = plan;
  other.seed = 0;
  return right_train_model(model, train_samples, test_samples, other);
}

}  // namespace lab
