// Misconception: the last unit is the first that backward needs, so forward may keep it.
//
// Killed by: Part3Passes.one_collective_per_unit
// Diagnosis: keeps_a_unit_for_backward
#include "mutant.h"
#define forward right_forward
#define backward right_backward
#include DIST_SOLUTION
#undef backward
#undef forward

namespace lab {

static Tensors last;

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  const Compute keeping{[&](std::size_t i, const Tensors& parameters, const Tensor& x) {
                          if (i + 1 == units.size()) last = parameters;
                          return compute.run_forward(i, parameters, x);
                        },
                        compute.run_backward};
  return right_forward(units, input, keeping);
}

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    Tensors parameters = std::exchange(last, {});
    if (parameters.empty()) {
      Gather gather = start_gather(units[i]);
      parameters = finish_gather(units[i], gather);
    }
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

}  // namespace lab
