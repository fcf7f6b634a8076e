// Misconception: activations are needed in backward, so step keeps them, too. (Forward does, and only until
// then.)
//
// Killed by: Part3Step.memory_of_what_is_in_flight
// Diagnosis: keeps_more_than_is_in_flight
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::vector<dist::Tensor> activations;
  Stage keeping = stage;
  keeping.forward = [&](int j, const dist::Tensor& input) {
    activations.push_back(input);
    return stage.forward(j, input);
  };
  return right_step(actions, batch, keeping);
}

}  // namespace lab
