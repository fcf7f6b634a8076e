// Flatten: merges all axes but the first into one.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"

namespace dist::nn {

// Input [batch, ...], output [batch, features]; the output shares the input's memory.
class Flatten : public Module {
 public:
  std::string str() const override { return "Flatten()"; }

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  Kept<Tensor> input_{*this};
};

}  // namespace dist::nn
