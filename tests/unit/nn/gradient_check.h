// Gradients by finite differences, in double.
#pragma once

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "dist/nn/module.h"

namespace dist::nn {

// Within [-1, 1], neither 0 nor close to each other: fractions of multiples of the golden ratio.
inline Tensor scattered(Shape shape, double seed, DType dtype = DType::f64) {
  Tensor t = empty(std::move(shape), DType::f64);
  for (double& x : t.data<double>()) {
    const double multiple = 0.61803398874989485 * seed++;
    x = 2 * (multiple - std::floor(multiple)) - 1;
  }
  return t.to(dtype);
}

inline double dot(const Tensor& a, const Tensor& b) { return sum(a * b); }

// d f / d x[i] by central differences is what backward() gave, for every i.
template <class F>
void expect_gradient(Tensor x, const Tensor& gradient, const F& f, const std::string& what) {
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < x.data<double>().size(); ++i) {
    double& element = x.data<double>()[i];
    const double before = element;
    element = before + step;
    const double above = f();
    element = before - step;
    const double below = f();
    element = before;
    const double expected = (above - below) / (2 * step);
    EXPECT_NEAR(gradient.data<double>()[i], expected, 1e-7 * std::max(1.0, std::abs(expected)))
        << what << ", element " << i;
  }
}

// Checks the gradients of the input and of every parameter; the loss is a weighted sum of the output. The
// module becomes f64.
inline void check_gradients(Module& module, const Tensor& given) {
  module.to(DType::f64);
  Tensor input = given.to(DType::f64).clone();
  double seed = 1;
  for (const auto& [name, parameter] : module.named_parameters())
    parameter->value.copy_(scattered(parameter->value.shape(), seed *= 3));
  const Tensor weights = scattered(module.forward(input).shape(), 0.5);
  const auto loss = [&] { return dot(module.forward(input), weights); };

  module.zero_grad();
  module.forward(input);
  const Tensor grad_input = module.backward(weights);
  ASSERT_EQ(grad_input.shape(), input.shape());
  expect_gradient(input, grad_input, loss, module.str() + ": input");
  for (const auto& [name, parameter] : module.named_parameters())
    expect_gradient(parameter->value, parameter->grad, loss, module.str() + ": " + name);
}

}  // namespace dist::nn
