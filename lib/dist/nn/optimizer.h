// Optimizer: what changes parameters by their gradients.
#pragma once

#include <string>
#include <vector>

#include "dist/nn/parameter.h"
#include "dist/nn/state_dict.h"

namespace dist::nn {

// The parameters are the module's and outlive it. State lies where a parameter lies at the first step().
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Changes every parameter by its gradient, in place. Gradients stay: zero_grad() is for that.
  virtual void step() = 0;
  void zero_grad();

  double lr() const { return lr_; }
  void set_lr(double lr);

  // What an optimizer remembers from step to step, of parameter 0: "0.momentum_buffer"; empty before the
  // first step. Tensors share memory with the optimizer. Options, the learning rate too, are not part of it.
  virtual StateDict state_dict() const = 0;
  // As that optimizer would go on. Error{invalid_argument} for the state of other parameters; then nothing
  // has changed.
  virtual void load_state_dict(const StateDict& dict) = 0;

 protected:
  // Error{invalid_argument} for a null parameter or a learning rate below 0.
  Optimizer(std::string name, std::vector<Parameter*> parameters, double lr);
  void check_option(bool good, std::string_view option, double value) const;

  const std::string name_;
  const std::vector<Parameter*> parameters_;

 private:
  double lr_;
};

}  // namespace dist::nn
