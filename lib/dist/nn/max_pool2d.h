// MaxPool2d: the largest of each window.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"
#include "dist/nn/windows.h"

namespace dist::nn {

struct MaxPool2dOptions {
  std::int64_t stride = 0;  // 0: the kernel's size, windows side by side
};

// Input [batch, channels, h, w], output [batch, channels, h', w'] with h' = (h - kernel) / stride + 1: what
// does not fill a window is left out. Of equal ones the first wins, as in torch; NaN makes NaN.
class MaxPool2d : public Module {
 public:
  // Error{invalid_argument} for a kernel below 1 or a stride below 0.
  explicit MaxPool2d(std::int64_t kernel, MaxPool2dOptions options = {});

  Tensor forward(const Tensor& input) override;
  Tensor backward(const Tensor& grad_output) override;
  std::string str() const override;  // "MaxPool2d(2, stride 2)"

 private:
  struct Winners {
    Tensor places;  // of the output's shape, see ops.h
    Shape input;
    DType dtype;
  };
  Windows windows_;
  Kept<Winners> winners_;
};

}  // namespace dist::nn
