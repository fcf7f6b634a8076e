// Conv2d: the correlation of images with learnt kernels, as in torch.nn.Conv2d.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"
#include "dist/nn/ops.h"

namespace dist::nn {

struct Conv2dOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;  // zeros at each border
  bool bias = true;
};

// Input [batch, in, h, w], output [batch, out, h', w'] with h' = (h + 2 padding - kernel) / stride + 1;
// weight [out, in, kernel, kernel], bias [out]. Initial values as in torch: uniform within +-1 / sqrt(in
// kernel^2).
class Conv2d : public Module {
 public:
  // Throws Error{invalid_argument} for sizes below 1 and a padding below 0.
  Conv2d(std::int64_t in, std::int64_t out, std::int64_t kernel, Conv2dOptions options = {});

  std::string str() const override;  // "Conv2d(1, 16, kernel 5, stride 1, padding 2)"

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  std::int64_t in_, out_;
  Windows windows_;
  bool has_bias_;
  Parameter weight_, bias_;

  // Made for the last shape: all batches have the same shape, except the last one of an epoch.
  struct Plan {
    ConvolutionShape shape;
    DType dtype;
    Device device;
    friend bool operator==(const Plan&, const Plan&) = default;
  };
  Plan plan_;
  std::vector<std::unique_ptr<Convolution>> idle_;  // of the plan; one is in use per forward() that is kept
  struct Forward {
    Plan plan;
    std::unique_ptr<Convolution> convolution;
  };
  void put_back(Forward done);
  Kept<Forward> forwards_{*this};
};

}  // namespace dist::nn
