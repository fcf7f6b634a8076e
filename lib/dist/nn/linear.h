// Linear: y = x W^T + b.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"

namespace dist::nn {

struct LinearOptions {
  bool bias = true;
};

// Input [..., in], output [..., out]; weight [out, in], bias [out]. Initial values as in torch: uniform
// within +-1 / sqrt(in). The sizes are those of the weight, which may be replaced by a slice of it.
class Linear : public Module {
 public:
  // Throws Error{invalid_argument} for sizes below 1.
  Linear(std::int64_t in, std::int64_t out, LinearOptions options = {});
  // Without a weight of its own: it uses another layer's, and that layer, whose backward() comes later,
  // reports when the gradient is complete. No bias.
  explicit Linear(Parameter& tied);

  void skip_input_grad() override { wants_input_grad_ = false; }
  std::string str() const override;  // "Linear(8, 16)"

  Parameter& weight() { return *weight_; }
  Parameter* bias() { return has_bias_ ? &bias_ : nullptr; }
  // The output is one part of a sum over ranks, of which another one adds the bias. Its gradient stays.
  void set_adds_bias(bool adds) { adds_bias_ = adds; }
  bool adds_bias() const { return has_bias_ && adds_bias_; }
  // From now on forward() keeps no input: for each backward(), `source` is called when the gradient of the
  // weight is due, and returns the input again.
  void set_input_source(std::function<Tensor()> source) { source_ = std::move(source); }

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;
  std::int64_t in() const { return weight_->value.size(1); }
  std::int64_t out() const { return weight_->value.size(0); }

  bool has_bias_;
  bool wants_input_grad_ = true;
  bool adds_bias_ = true;
  std::function<Tensor()> source_;
  Parameter own_weight_, bias_;
  Parameter* const weight_;
  Kept<Tensor> input_{*this};
};

}  // namespace dist::nn
