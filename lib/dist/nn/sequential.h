// Sequential: modules one after another, named "0", "1", ...
//
//   nn::Sequential model;
//   model.add<nn::Linear>(8, 16);
//   model.add<nn::ReLU>();
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dist/nn/module.h"

namespace dist::nn {

class Sequential : public Module {
 public:
  Sequential() = default;
  template <class... Modules>
  explicit Sequential(std::unique_ptr<Modules>... modules) {
    (append(std::move(modules)), ...);
  }

  // Makes a module and appends it.
  template <class M, class... Args>
  M& add(Args&&... args) {
    auto module = std::make_unique<M>(std::forward<Args>(args)...);
    M& made = *module;
    append(std::move(module));
    return made;
  }
  void append(std::unique_ptr<Module> module);
  std::size_t size() const { return modules_.size(); }
  // Throws Error{invalid_argument} if there is no such module.
  Module& operator[](std::size_t index);

  std::string str() const override;  // "Sequential(Linear(8, 16), ReLU())"

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  std::vector<std::unique_ptr<Module>> modules_;
};

}  // namespace dist::nn
