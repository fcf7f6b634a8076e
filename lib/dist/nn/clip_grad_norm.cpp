#include "dist/nn/clip_grad_norm.h"

#include <algorithm>
#include <cmath>

#include "dist/nn/checks.h"
#include "dist/nn/ops.h"

namespace dist::nn {

namespace {

// Those that are trained, and of which this rank has elements.
struct Gradients {
  std::vector<Tensor> tensors;
  std::vector<std::string> names;
};

Gradients gradients_of(std::span<const NamedParameter> parameters) {
  Gradients gradients;
  auto& all = gradients.tensors;
  for (const auto& [name, parameter] : parameters) {
    const Tensor& grad = parameter->grad;
    if (!parameter->requires_grad()) continue;
    if (!grad.is_defined() || !is_trainable(grad.dtype()))
      fail(Errc::invalid_argument, "clip_grad_norm: the gradient of {} is {}, bf16, f32 or f64 is needed",
           name, grad.is_defined() ? dist::name(grad.dtype()) : "undefined");
    if (!all.empty() && (grad.dtype() != all[0].dtype() || grad.device() != all[0].device()))
      fail(Errc::invalid_argument,
           "clip_grad_norm: the gradient of {} is {} on {}, that of {} is {} on {}; one dtype and one device "
           "are needed",
           name, dist::name(grad.dtype()), grad.device().str(), gradients.names[0],
           dist::name(all[0].dtype()), all[0].device().str());
    if (grad.numel() == 0) continue;
    all.push_back(grad);
    gradients.names.push_back(name);
  }
  return gradients;
}

void check_finite(const Gradients& gradients, const Norm& norm) {
  if (std::isfinite(norm.item())) return;
  for (std::size_t i = 0; i < gradients.tensors.size(); ++i) {
    const double of_one = Norm(squared_norm(std::span(gradients.tensors).subspan(i, 1)));
    if (!std::isfinite(of_one))
      fail(Errc::invalid_argument,
           "clip_grad_norm: the gradient of {} has norm {}, so no step can be taken; look at the loss and "
           "the learning rate of the steps before",
           gradients.names[i], std::abs(of_one));
  }
  fail(Errc::invalid_argument,
       "clip_grad_norm: the norm of all gradients is {}, although each one's on this rank is finite",
       std::abs(norm.item()));
}

}  // namespace

double Norm::item() const { return std::sqrt(squared_.item<double>()); }

Tensor squared_norm(std::span<const Tensor> tensors) {
  const Tensor result = empty({}, DType::f64, tensors.empty() ? cpu : tensors[0].device());
  ops_for(result.device()).squared_norm(result, tensors);
  return result;
}

Norm clip_grad_norm(std::span<const NamedParameter> parameters, double max_norm, const ClipOptions& options) {
  if (!(max_norm > 0))
    fail(Errc::invalid_argument,
         "clip_grad_norm: max_norm = {} is out of range; it must be above 0, and infinity does not clip",
         max_norm);
  const Gradients gradients = gradients_of(parameters);
  const auto divided = std::ranges::find_if(
      parameters, [](const NamedParameter& named) { return named.parameter->division != nullptr; });
  const Tensor squared = divided == parameters.end() ? squared_norm(gradients.tensors)
                                                     : divided->parameter->division->squared_norm(parameters);
  if (options.error_if_nonfinite) check_finite(gradients, Norm(squared));
  if (!gradients.tensors.empty()) ops_for(squared.device()).clip(gradients.tensors, squared, max_norm);
  return Norm(squared);
}

Norm clip_grad_norm(const std::vector<Parameter*>& parameters, double max_norm, const ClipOptions& options) {
  std::vector<NamedParameter> numbered;
  for (Parameter* const parameter : parameters)
    numbered.push_back(
        {parameter->name.empty() ? fmt::format("parameter {}", numbered.size()) : parameter->name,
         parameter});
  return clip_grad_norm(numbered, max_norm, options);
}

}  // namespace dist::nn
