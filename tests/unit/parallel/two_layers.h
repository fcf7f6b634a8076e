// A small model of one's own, for tests of what wraps it.
#pragma once

#include "dist/nn/linear.h"
#include "dist/nn/module.h"
#include "dist/nn/random.h"

namespace dist::test {

struct TwoLayers final : nn::Module {
  nn::Linear a{4, 4}, b{4, 4};
  TwoLayers() {
    register_module("a", a), register_module("b", b);
    nn::manual_seed(5);
    for (nn::Parameter* const parameter : parameters())
      parameter->initialize(nn::uniform(parameter->value.shape(), 0.5));
    to(DType::f64);
  }
  Tensor run_forward(const Tensor& input) override { return b.forward(a.forward(input)); }
  Tensor run_backward(const Tensor& grad) override { return a.backward(b.backward(grad)); }
};

inline void once(nn::Module& model) { (void)model.backward(model.forward(full({2, 4}, 0.5, DType::f64))); }

}  // namespace dist::test
