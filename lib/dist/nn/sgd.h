// SGD: stochastic gradient descent with momentum and weight decay, by torch's formulas:
//   g = grad + weight_decay * value;  v = momentum * v + g (v = 0 at first);  value -= lr * v
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dist/nn/optimizer.h"

namespace dist::nn {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double weight_decay = 0;
  bool master_weights = true;  // f32 copies of parameters in bf16 (optimizer.h)
};

// Its state has "0.momentum_buffer" (v), and so on, if there is momentum, then the master weights,
// "0.master_param".
class SGD : public Optimizer {
 public:
  // Throws Error{invalid_argument} for options below 0.
  explicit SGD(std::vector<Parameter*> parameters, SGDOptions options = {});
  explicit SGD(std::span<const ParameterGroup> groups, SGDOptions options = {});

 private:
  std::vector<std::string> state_names() const override;
  void step_on(StateDict& state) override;

  SGDOptions options_;
};

}  // namespace dist::nn
