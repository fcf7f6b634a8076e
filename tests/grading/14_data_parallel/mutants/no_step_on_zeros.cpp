// Misconception: where all gradients are zero the weights stay.
//
// Killed by: Part4Train.with_momentum
// Diagnosis: no_step_on_zeros
#include "mutant.h"
#define train right_train
#include DIST_SOLUTION
#undef train

namespace lab {

void train(Tensors& weights, int steps, const Trainer& trainer) {
  Trainer other = trainer;
  other.optimize = [&](Tensors& now, const Tensors& gradients) {
    const auto is_zero = [](const Tensor& gradient) {
      const auto numbers = gradient.to_vector<double>();
      return std::ranges::all_of(numbers, [](double number) { return number == 0; });
    };
    if (!std::ranges::all_of(gradients, is_zero)) trainer.optimize(now, gradients);
  };
  right_train(weights, steps, other);
}

}  // namespace lab
