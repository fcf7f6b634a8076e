// Adam (Kingma, Ba 2015), by torch's formulas; step t counts from 1, and m and v start at 0:
//   g = grad + weight_decay * value;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   value -= lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + eps)
#pragma once

#include <array>
#include <vector>

#include "dist/nn/optimizer.h"

namespace dist::nn {

struct AdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
};

// Its state has "step" (t, [] i64), "0.exp_avg" (m), "0.exp_avg_sq" (v), and so on.
class Adam : public Optimizer {
 public:
  // Throws Error{invalid_argument} for options below 0 and betas outside [0, 1).
  explicit Adam(std::vector<Parameter*> parameters, AdamOptions options = {});

 private:
  StateDict initial_state() const override;
  void step_on(StateDict& state) override;

  AdamOptions options_;
};

}  // namespace dist::nn
