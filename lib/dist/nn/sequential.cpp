#include "dist/nn/sequential.h"

#include "dist/core/fail.h"

namespace dist::nn {

void Sequential::append(std::unique_ptr<Module> module) {
  if (!module) fail(Errc::invalid_argument, "Sequential: module {} is null", modules_.size());
  register_module(std::to_string(modules_.size()), *module);
  modules_.push_back(std::move(module));
}

Module& Sequential::operator[](std::size_t index) {
  if (index >= modules_.size())
    fail(Errc::invalid_argument, "Sequential[{}]: there are {} modules", index, modules_.size());
  return *modules_[index];
}

Tensor Sequential::run_forward(const Tensor& input) {
  Tensor flowing = input;
  bool needs_grad = wants_input_grad();
  for (const auto& module : modules_) flowing = forward_child(*module, flowing, needs_grad);
  return flowing;
}

Tensor Sequential::run_backward(const Tensor& grad_output) {
  Tensor flowing = grad_output;
  for (auto module = modules_.rbegin(); module != modules_.rend(); ++module)
    flowing = (*module)->backward(flowing);
  return flowing;
}

std::string Sequential::str() const {
  std::string text;
  for (const auto& module : modules_) text += (text.empty() ? "" : ", ") + module->str();
  return "Sequential(" + text + ")";
}

}  // namespace dist::nn
