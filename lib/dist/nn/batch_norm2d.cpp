#include "dist/nn/batch_norm2d.h"

#include <utility>

#include "dist/core/shape.h"

namespace dist::nn {

BatchNorm2d::BatchNorm2d(std::int64_t features, BatchNorm2dOptions options)
    : features_(features), options_(options) {
  if (features < 1) fail(Errc::invalid_argument, "{}: features must be at least 1", str());
  weight_.initialize(ones({features}));
  bias_.initialize(zeros({features}));
  running_mean_.value = zeros({features});
  running_var_.value = ones({features});
  num_batches_tracked_.value = zeros({}, DType::i64);
  register_parameter("weight", weight_);
  register_parameter("bias", bias_);
  register_buffer("running_mean", running_mean_);
  register_buffer("running_var", running_var_);
  register_buffer("num_batches_tracked", num_batches_tracked_);
}

std::string BatchNorm2d::str() const { return fmt::format("BatchNorm2d({})", features_); }

Tensor BatchNorm2d::run_forward(const Tensor& input) {
  check_input(str(), input, weight_.value);
  if (input.dim() != 4 || input.size(1) != features_)
    fail_shape(str(), input, fmt::format("[batch, {}, height, width]", features_));
  if (is_training() && input.numel() / features_ < 2)
    fail(Errc::invalid_argument,
         "{}: the input of shape {} has fewer than two values per channel, which have no variance", str(),
         to_string(input.shape()));
  const auto statistic = [&] { return empty({features_}, compute_dtype(input.dtype()), input.device()); };
  NormTensors norm{weight_.value,      bias_.value, running_mean_.value,
                   running_var_.value, statistic(), statistic()};
  Tensor out = empty_like(input);
  ops_for(input.device()).batch_norm(out, input, norm, {options_.eps, options_.momentum, is_training()});
  if (is_training()) num_batches_tracked_.value.add_(ones({}, DType::i64, input.device()));
  kept_.keep({input, std::move(norm), is_training()});
  return out;
}

Tensor BatchNorm2d::run_backward(const Tensor& grad_output) {
  const Forward kept = kept_.take();
  check_grad_output(str(), grad_output, kept.input.shape(), kept.input);
  Tensor grad_input = empty_like(kept.input);
  ops_for(grad_input.device())
      .batch_norm_backward({weight_.grad, bias_.grad, grad_input}, grad_output, kept.input, kept.norm,
                           kept.training);
  if (bias_.requires_grad()) bias_.grad_is_ready();
  if (weight_.requires_grad()) weight_.grad_is_ready();
  return grad_input;
}

}  // namespace dist::nn
