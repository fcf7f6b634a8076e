// MaxPool2d: the maximum of each window.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"
#include "dist/nn/windows.h"

namespace dist::nn {

struct MaxPool2dOptions {
  std::int64_t stride = 0;  // 0: the kernel's size, so that windows do not overlap
};

// Input [batch, channels, h, w], output [batch, channels, h', w'] with h' = (h - kernel) / stride + 1: pixels
// that do not fill a window are ignored. Among equal values the first wins, as in torch; a NaN makes the
// result NaN.
class MaxPool2d : public Module {
 public:
  // Throws Error{invalid_argument} for a kernel below 1 or a stride below 0.
  explicit MaxPool2d(std::int64_t kernel, MaxPool2dOptions options = {});

  std::string str() const override;  // "MaxPool2d(2, stride 2)"

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  struct Winners {
    Tensor places;  // they have the output's shape, see ops.h
    Shape input;
    DType dtype;
  };
  Windows windows_;
  Kept<Winners> winners_{*this};
};

}  // namespace dist::nn
