// The convolution of one layer by oneDNN, in f32: primitives made once for a shape and used for all its
// batches.
#pragma once

#include <optional>
#include <unordered_map>

#include <dnnl.hpp>

#include "dist/nn/onednn/layout.h"
#include "dist/nn/ops.h"

namespace dist::nn::onednn {

class OneDnnConvolution final : public Convolution {
 public:
  // No size of the shape is 0. Throws dnnl::error; the other calls throw Error{resource} or Error{internal}.
  explicit OneDnnConvolution(const ConvolutionShape& shape);

  Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias) override;
  void forget_input() override { input_ = {}; }
  void backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) override;
  Tensor backward_input(const Tensor& grad_output, const Tensor& weight) override;

 private:
  // A primitive with memory to work in. (oneDNN's own memory would belong to the thread that made it.)
  class Step {
   public:
    template <class Primitive>
    explicit Step(const Primitive& primitive, const typename Primitive::primitive_desc& desc)
        : primitive_(primitive), scratch_(desc.scratchpad_desc(), cpu_engine()) {}
    void run(const dnnl::stream& stream, std::unordered_map<int, dnnl::memory> operands) const;

   private:
    dnnl::primitive primitive_;
    dnnl::memory scratch_;
  };
  struct Forward {
    Step step;
    Operand input, weight, output;
  };
  struct ParameterGradients {
    Step step;
    Operand grad_output;
    Addend weight, bias;
  };
  struct InputGradient {
    Step step;
    Operand grad_output, weight, grad_input;
  };
  ParameterGradients make_parameter_gradients() const;
  InputGradient make_input_gradient() const;

  ConvolutionShape shape_;
  dnnl::stream stream_;
  dnnl::convolution_forward::primitive_desc desc_;
  Forward forward_;
  // Made when they are first needed: a program that only evaluates needs neither.
  std::optional<ParameterGradients> parameter_gradients_;
  std::optional<InputGradient> input_gradient_;
  Tensor input_;    // the last forward's; it may have been read in place
  Tensor no_bias_;  // zeros
};

}  // namespace dist::nn::onednn
