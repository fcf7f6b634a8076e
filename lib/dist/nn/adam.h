// Adam (Kingma, Ba 2015), by torch's formulas; step t counts from 1, and m and v start at 0:
//   g = grad + weight_decay * value;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   value -= lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + eps)
// AdamW (Loshchilov, Hutter 2019) decouples the decay of the weights from the gradient, whose size Adam
// divides by: g = grad, and in front of the last line
//   value -= lr * weight_decay * value
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "dist/nn/optimizer.h"

namespace dist::nn {

struct AdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool master_weights = true;  // f32 copies of parameters in bf16 (optimizer.h)
};

// Its state has "step" (t, [] i64), "0.exp_avg" (m), "0.exp_avg_sq" (v), and so on, then the master weights,
// "0.master_param". A parameter that was not trained in some of these steps has a t of its own, "step.0".
class Adam : public Optimizer {
 public:
  // Throws Error{invalid_argument} for options below 0 and betas outside [0, 1).
  explicit Adam(std::vector<Parameter*> parameters, AdamOptions options = {});
  explicit Adam(std::span<const ParameterGroup> groups, AdamOptions options = {});

 protected:
  Adam(std::string name, std::span<const ParameterGroup> groups, AdamOptions options, bool decoupled);

 private:
  StateDict common_state() const override;
  std::vector<std::string> state_names() const override;
  void add_own_step(std::size_t i, bool late, StateDict& state) const override;
  std::vector<Tensor> own_steps(const StateDict& state) const;
  void step_on(StateDict& state) override;

  AdamOptions options_;
  bool decoupled_;
};

struct AdamWOptions {
  double lr = 1e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool master_weights = true;
};

// AdamW(decay_groups(model.parameters()), {.lr = 6e-4, .betas = {0.9, 0.95}, .weight_decay = 0.1}) is
// nanoGPT's. Its state is Adam's.
class AdamW final : public Adam {
 public:
  explicit AdamW(std::vector<Parameter*> parameters, AdamWOptions options = {});
  explicit AdamW(std::span<const ParameterGroup> groups, AdamWOptions options = {});
};

}  // namespace dist::nn
