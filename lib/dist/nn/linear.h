// Linear: y = x W^T + b.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"

namespace dist::nn {

struct Lora;
struct LoraOptions;

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

  ~Linear() override;
  std::string str() const override;  // "Linear(8, 16)"

  Parameter& weight() { return *weight_; }
  Parameter* bias() { return has_bias_ ? &bias_ : nullptr; }
  // The output is one part of a sum over ranks, of which another one adds the bias. Its gradient stays.
  void set_adds_bias(bool adds) { adds_bias_ = adds; }
  bool adds_bias() const { return has_bias_ && adds_bias_; }
  // From now on forward() keeps no input: for each backward(), `source` is called when the gradient of the
  // weight is due, and returns the input again.
  void set_input_source(std::function<Tensor()> source) { source_ = std::move(source); }

  // Low-rank adaptation (lora.h). From now on weight and bias are not trained, and two small matrices beside
  // them are, with the weight's dtype and device. Throws Error{invalid_argument} for options out of range,
  // and for a layer that has LoRA already, whose weight is another layer's, or whose weight ranks have
  // divided.
  void add_lora(const LoraOptions& options);
  bool has_lora() const { return lora_ != nullptr; }
  bool is_merged() const;
  // Adds scale B A to the weight, until unmerge_lora() puts the old one back, bit for bit: it is kept, which
  // takes its bytes once more. Merged, this is a plain Linear: parameters() and state_dict() have no lora_A
  // and lora_B. Throw Error{invalid_argument} without LoRA, and if it is merged, or is not.
  void merge_lora();
  void unmerge_lora();

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;
  std::int64_t in() const { return weight_->value.size(1); }
  std::int64_t out() const { return weight_->value.size(0); }
  void add_grads(const Tensor& grads, const Tensor& input);
  void register_lora();

  bool has_bias_;
  bool adds_bias_ = true;
  std::function<Tensor()> source_;
  Parameter own_weight_, bias_;
  Parameter* const weight_;
  struct Forward {
    Tensor input;  // undefined if backward does not need it, or `source_` has it
    Shape shape;
  };
  Kept<Forward> forwards_{*this};
  std::unique_ptr<Lora> lora_;
};

}  // namespace dist::nn
