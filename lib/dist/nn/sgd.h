// SGD: stochastic gradient descent with momentum and weight decay, by torch's formulas:
//   g = grad + weight_decay * value;  v = momentum * v + g (v = 0 at first);  value -= lr * v
#pragma once

#include <vector>

#include "dist/nn/optimizer.h"

namespace dist::nn {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double weight_decay = 0;
};

class SGD : public Optimizer {
 public:
  // Error{invalid_argument} for options below 0.
  SGD(std::vector<Parameter*> parameters, SGDOptions options = {});

  void step() override;
  StateDict state_dict() const override;  // "0.momentum_buffer", ...: v; nothing without momentum
  void load_state_dict(const StateDict& dict) override;

 private:
  SGDOptions options_;
  std::vector<Tensor> velocities_;  // empty before the first step
};

}  // namespace dist::nn
