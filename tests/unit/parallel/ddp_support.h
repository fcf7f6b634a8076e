// A model whose gradients a test can compute by itself: each layer scales its input by one number per
// parameter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/dist.h"
#include "dist/nn/module.h"
#include "dist/parallel/comm_hook.h"

namespace dist::test {

// The gradient that n ranks get when each contributes its own number.
inline double mean_of_ranks(int n) { return (n - 1) / 2.0; }

// A row of parameters of the sizes given. forward returns its input; backward adds, to every element of
// parameter i, (i + 1) times the first element of grad_output: last parameter first.
class Row : public nn::Module {
 public:
  explicit Row(const std::vector<std::int64_t>& sizes, double value = 0, DType dtype = DType::f32) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      row_.push_back(std::make_unique<nn::Parameter>());
      row_.back()->initialize(full({sizes[i]}, value, dtype));
      register_parameter("p" + std::to_string(i), *row_.back());
    }
  }
  Tensor run_forward(const Tensor& input) override { return input; }
  Tensor run_backward(const Tensor& grad_output) override {
    for (std::size_t i = row_.size(); i-- > 0;) {
      if (is_left_out(i)) continue;
      auto& grad = row_[i]->grad;
      grad.add_(full(grad.shape(), 1, grad.dtype()), static_cast<double>(i + 1) * grad_output.item<double>());
      if (before_ready) before_ready(i);
      row_[i]->grad_is_ready();
    }
    return grad_output;
  }
  nn::Parameter& operator[](std::size_t i) { return *row_[i]; }

  std::vector<std::size_t> left_out;              // of backward
  std::function<void(std::size_t)> before_ready;  // a layer's work

 private:
  bool is_left_out(std::size_t i) const {
    return std::find(left_out.begin(), left_out.end(), i) != left_out.end();
  }
  std::vector<std::unique_ptr<nn::Parameter>> row_;
};

// The value of all elements of a tensor. Throws, so that the test fails, if they are not all the same.
inline double only_value(const Tensor& t) {
  const auto values = t.to_vector<double>();
  for (const double value : values)
    if (value != values.front()) throw std::runtime_error("different elements: " + t.str());
  return values.at(0);
}

// all_reduce_hook that also counts the buckets that it sends.
inline CommHook counting_hook(int& sent) {
  return [&sent](const GradBucket& bucket) {
    ++sent;
    return all_reduce_hook(bucket);
  };
}

// One backward in which this rank's gradient of parameter i is (i + 1) * scale.
template <class Model>
void step(Model& model, double scale) {
  const Tensor t = full({1}, scale);
  (void)model.forward(t);
  (void)model.backward(t);
}

}  // namespace dist::test
