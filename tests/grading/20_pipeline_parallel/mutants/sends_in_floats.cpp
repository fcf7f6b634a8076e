// Misconception: activations need only half the bytes, as in mixed precision.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  Stage wrong = stage;
  wrong.forward = [&](int j, const dist::Tensor& input) {
    return stage.forward(j, input).to(dist::DType::f32).to(dist::DType::f64);
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
