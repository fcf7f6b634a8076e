// ReLU: max(x, 0), element by element.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"

namespace dist::nn {

// Any shape. NaN stays NaN. The gradient at 0 is 0, as in torch.
class ReLU : public Module {
 public:
  std::string str() const override { return "ReLU()"; }

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  Kept<Tensor> output_{*this};
};

}  // namespace dist::nn
