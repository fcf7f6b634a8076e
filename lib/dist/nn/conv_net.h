// ConvNet: the network of the course notes, and an example of a module of your own.
#pragma once

#include <string>

#include "dist/nn/linear.h"
#include "dist/nn/module.h"
#include "dist/nn/sequential.h"

namespace dist::nn {

// Input [batch, 1, 28, 28], output [batch, classes]: logits. Two blocks of convolution 5x5, batch norm, ReLU
// and pooling ("cnn.0.weight", ...), then one linear layer ("fc.weight", "fc.bias"): 29,034 parameters for 10
// classes.
class ConvNet : public Module {
 public:
  explicit ConvNet(std::int64_t classes = 10);

  std::string str() const override { return "ConvNet"; }

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  Sequential cnn_;
  Linear fc_;
};

}  // namespace dist::nn
