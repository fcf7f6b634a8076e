#include "dist/nn/row_norms.h"

#include <utility>

#include "dist/nn/ops.h"

namespace dist::nn {

LayerNorm::LayerNorm(std::int64_t width, LayerNormOptions options) : LayerNorm(width, options, true) {}

LayerNorm::LayerNorm(std::int64_t width, LayerNormOptions options, bool centred)
    : options_(options), centred_(centred) {
  if (width < 1) fail(Errc::invalid_argument, "a norm over {} elements; at least 1 is needed", width);
  weight_.initialize(ones({width}));
  register_parameter("weight", weight_);
  if (!options_.bias) return;
  bias_.initialize(zeros({width}));
  register_parameter("bias", bias_);
}

std::string LayerNorm::str() const {
  return fmt::format("{}({})", centred_ ? "LayerNorm" : "RMSNorm", weight_.value.numel());
}

Tensor LayerNorm::run_forward(const Tensor& input) {
  const std::int64_t width = weight_.value.numel();
  check_input(str(), input, weight_.value);
  if (input.dim() < 1 || input.size(-1) != width) fail_shape(str(), input, fmt::format("[..., {}]", width));
  const auto per_row = [&] {
    return empty({input.numel() / width}, compute_dtype(input.dtype()), input.device());
  };
  RowNorm norm{weight_.value, bias_.value, centred_ ? per_row() : Tensor(), per_row()};
  Tensor out = empty_like(input);
  ops_for(input.device()).row_norm(out, input, norm, options_.eps);
  forwards_.keep({input, std::move(norm)});
  return out;
}

// The parameters' gradients come from the same pass over the rows as the input's, so they are never deferred.
Tensor LayerNorm::run_backward(const Tensor& grad_output) {
  const Forward forward = forwards_.take();
  check_grad_output(str(), grad_output, forward.input.shape(), forward.input);
  Tensor grad_input = empty_like(forward.input);
  ops_for(grad_input.device())
      .row_norm_backward({weight_.grad, bias_.grad, grad_input}, grad_output, forward.input, forward.norm);
  if (bias_.grad.is_defined()) bias_.grad_is_ready();
  if (weight_.requires_grad()) weight_.grad_is_ready();
  return grad_input;
}

}  // namespace dist::nn
