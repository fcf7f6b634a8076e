#include "distlab/train/finite.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/nn/clip_grad_norm.h"
#include "dist/nn/module_hook.h"

#include "distlab/train/devices.h"

namespace distlab {
namespace {

namespace nn = dist::nn;

bool is_finite(const dist::Tensor& tensor) {
  return std::ranges::all_of(tensor.to(dist::cpu).to(dist::DType::f64).to_vector<double>(),
                             [](double value) { return std::isfinite(value); });
}

// One per module; all share `first`. A layer ends before the module that contains it.
class Watch final : public nn::ModuleHook {
 public:
  Watch(std::string name, std::shared_ptr<std::string> first)
      : name_(std::move(name)), first_(std::move(first)) {}
  dist::Tensor after_forward(nn::Module& module, const dist::Tensor& output) override {
    if (first_->empty() && !is_finite(output)) *first_ = fmt::format("{} ({})", name_, module.str());
    return output;
  }

 private:
  const std::string name_;
  const std::shared_ptr<std::string> first_;
};

}  // namespace

std::shared_ptr<std::string> watch_outputs(nn::Module& model) {
  const auto first = std::make_shared<std::string>();
  for (const auto& [name, module] : model.named_modules())
    module->add_hook(std::make_shared<Watch>(name.empty() ? "the model" : name, first));
  return first;
}

std::string first_not_finite(nn::Module& model, const dist::Tensor& input) {
  const auto first = watch_outputs(model);
  model.forward(input);
  return *first;
}

void expect_finite(double loss, const StepOfRank& at, nn::Module& model, const dist::Tensor& input) {
  if (std::isfinite(loss)) return;
  const auto layer = first_not_finite(model, input);
  dist::fail(dist::Errc::invalid_argument,
             "the loss of rank {} at step {} is {}; {}; try a smaller --lr than {}", at.rank, at.step,
             std::abs(loss),
             layer.empty() ? "the outputs of all layers are finite"
                           : fmt::format("the first layer whose output is not finite is {}", layer),
             at.lr);
}

namespace {

std::string kept(const std::filesystem::path& checkpoint) {
  return std::filesystem::exists(checkpoint) ? fmt::format("; {} is as it was before", checkpoint.string())
                                             : "";
}

}  // namespace

void expect_finite_weights(const std::vector<nn::Parameter*>& parameters, std::int64_t step, double lr,
                           const std::filesystem::path& checkpoint) {
  std::vector<dist::Tensor> values;
  for (const nn::Parameter* const parameter : parameters)
    if (parameter->value.numel() > 0) values.push_back(parameter->value);
  const bool is_bad = !values.empty() && !std::isfinite(nn::squared_norm(values).item<double>());
  if (summed({is_bad ? 1. : 0.}, values.empty() ? dist::cpu : values[0].device())[0] == 0) return;
  dist::fail(dist::Errc::invalid_argument,
             "the weights after step {} are not finite; try a smaller --lr than {}{}", step, lr,
             kept(checkpoint));
}

void expect_finite_validation(double loss, std::int64_t step, double lr,
                              const std::filesystem::path& checkpoint) {
  if (!std::isfinite(loss))
    dist::fail(dist::Errc::invalid_argument,
               "the validation loss after step {} is {}; try a smaller --lr than {}{}", step, std::abs(loss),
               lr, kept(checkpoint));
}

void expect_finite(double loss, const StepOfRank& at) {
  if (!std::isfinite(loss))
    dist::fail(
        dist::Errc::invalid_argument,
        "the loss of rank {} at step {} is {}; try a smaller --lr than {}, or --no-graph, which names the "
        "first layer whose output is not finite",
        at.rank, at.step, std::abs(loss), at.lr);
}

}  // namespace distlab
