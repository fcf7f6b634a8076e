// Adding LoRA to one layer, merging it, and the same for a whole model. What a layer computes with it is in
// linear.cpp.
#include "dist/nn/lora.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>

#include "dist/core/fail.h"
#include "dist/nn/ops.h"

namespace dist::nn {

namespace {

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

struct NamedLinear {
  std::string name;
  Linear* linear;
};

// The layers of a model that have LoRA, or that can have it.
std::vector<NamedLinear> linears_of(Module& model, bool with_lora) {
  std::vector<NamedLinear> all;
  for (const auto& [name, module] : model.named_modules())
    if (auto* const linear = dynamic_cast<Linear*>(module); linear && linear->has_lora() == with_lora)
      all.push_back({name, linear});
  return all;
}

void check_lora_options(const LoraOptions& options) {
  if (options.rank < 1) fail(Errc::invalid_argument, "LoRA: rank = {}; it is at least 1", options.rank);
  if (!std::isfinite(options.alpha) || options.alpha == 0)
    fail(Errc::invalid_argument, "LoRA: alpha = {}; it is a finite number other than 0", options.alpha);
}

void check_lora_layer(Linear& linear) {
  const std::string layer = linear.str();
  if (linear.has_lora()) fail(Errc::invalid_argument, "add_lora: {} has LoRA already", layer);
  if (!linear.tied_parameters().empty())
    fail(Errc::invalid_argument, "add_lora: the weight of {} is another layer's, which would be frozen, too",
         layer);
  if (linear.weight().division)
    fail(Errc::invalid_argument,
         "add_lora: ranks have divided \"{}\" of {}; call add_lora() before fully_shard() or parallelize()",
         linear.weight().name, layer);
}

template <class F>
void for_each_with_lora(Module& model, const char* call, const F& f) {
  const auto layers = linears_of(model, true);
  if (layers.empty())
    fail(Errc::invalid_argument, "{}: no layer of {} has LoRA; call add_lora() first", call, model.str());
  for (const NamedLinear& each : layers) f(*each.linear);
}

}  // namespace

Lora::Lora(const LoraOptions& options, const Parameter& beside)
    : a((check_lora_options(options), beside.value.size(1)), options.rank, {.bias = false}),
      b(options.rank, beside.value.size(0), {.bias = false}),
      scale(options.alpha / static_cast<double>(options.rank)) {
  b.weight().value.zero_();
}

void Linear::add_lora(const LoraOptions& options) {
  check_lora_layer(*this);
  lora_ = std::make_unique<Lora>(options, *weight_);
  weight_->requires_grad(false);
  bias_.requires_grad(false);
  register_lora();
}

// They follow the weight, which may have been converted while it was merged.
void Linear::register_lora() {
  for (Linear* const matrix : {&lora_->a, &lora_->b}) {
    matrix->to(weight_->value.dtype());
    matrix->to(weight_->value.device());
  }
  register_module("lora_A", lora_->a);
  register_module("lora_B", lora_->b);
}

// bf16 is summed in f32 and rounded once.
void Linear::merge_lora() {
  if (!has_lora() || is_merged())
    fail(Errc::invalid_argument, "merge_lora: {} {}", str(),
         has_lora() ? "is merged already" : "has no LoRA");
  if (weight_->division)
    fail(Errc::invalid_argument,
         "merge_lora: ranks have divided \"{}\"; load the state of the whole model into one that is not "
         "divided, and merge that",
         weight_->name);
  Tensor& weight = weight_->value;
  const DType dtype = compute_dtype(weight.dtype());
  const Tensor product = empty(weight.shape(), dtype, weight.device());
  ops_for(weight.device())
      .matmul(product, {lora_->b.weight().value.to(dtype)}, {lora_->a.weight().value.to(dtype)}, false);
  lora_->unmerged = weight.clone();
  for (Parameter* const parameter :
       {&lora_->a.weight(), &lora_->b.weight()})  // zero_grad() will not reach them
    if (parameter->grad.is_defined()) parameter->grad.zero_();
  weight.copy_(weight.to(dtype).clone().add_(product, lora_->scale));
  unregister_module(lora_->a);
  unregister_module(lora_->b);
}

void Linear::unmerge_lora() {
  if (!is_merged()) fail(Errc::invalid_argument, "unmerge_lora: {} is not merged", str());
  weight_->value.copy_(std::exchange(lora_->unmerged, {}));
  register_lora();
}

LoraLinear::LoraLinear(std::int64_t in, std::int64_t out, const LoraOptions& lora, LinearOptions options)
    : Linear(in, out, options) {
  add_lora(lora);
}

LoraLinear::LoraLinear(Tensor weight, Tensor bias, const LoraOptions& lora)
    : Linear(weight.size(-1), weight.size(0), {.bias = bias.is_defined()}) {
  if (weight.dim() != 2 || (bias.is_defined() && bias.shape() != Shape{weight.size(0)}))
    fail(Errc::invalid_argument, "LoraLinear: a weight [out, in] and a bias [out] are expected");
  this->weight().initialize(std::move(weight));
  if (bias.is_defined()) this->bias()->initialize(std::move(bias));
  add_lora(lora);
}

std::size_t add_lora(Module& model, const LoraOptions& options) {
  check_lora_options(options);
  auto layers = linears_of(model, false);
  for (const std::string& target : options.targets)
    if (std::ranges::none_of(layers, [&](const NamedLinear& l) { return last_part(l.name) == target; }))
      fail(Errc::invalid_argument, "add_lora: no Linear of {} without LoRA is named \"{}\"", model.str(),
           target);
  std::erase_if(layers, [&](const NamedLinear& l) {
    const std::string name = last_part(l.name);
    return options.targets.empty() ? name == "lm_head" || name == "lora_A" || name == "lora_B" ||
                                         !l.linear->tied_parameters().empty()
                                   : std::ranges::find(options.targets, name) == options.targets.end();
  });
  if (layers.empty())
    fail(Errc::invalid_argument, "add_lora: {} has no Linear without LoRA besides lm_head", model.str());
  for (const NamedLinear& each : layers) check_lora_layer(*each.linear);
  model.requires_grad(false);
  for (const NamedLinear& each : layers) each.linear->add_lora(options);
  return layers.size();
}

void merge_lora(Module& model) {
  for_each_with_lora(model, "merge_lora", [](Linear& linear) { linear.merge_lora(); });
}

void unmerge_lora(Module& model) {
  for_each_with_lora(model, "unmerge_lora", [](Linear& linear) { linear.unmerge_lora(); });
}

}  // namespace dist::nn
