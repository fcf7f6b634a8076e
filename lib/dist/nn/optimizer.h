// Optimizer: what changes parameters by their gradients.
#pragma once

#include <string>
#include <vector>

#include "dist/nn/parameter.h"
#include "dist/nn/state_dict.h"

namespace dist::nn {

// The parameters are their module's and outlive the optimizer.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Changes every parameter by its gradient, in place. Gradients stay: zero_grad() is for that.
  // Error{invalid_argument} names a parameter that is neither f32 nor f64, or whose gradient or remembered
  // state is of another dtype, shape or device than itself (the model was converted); then nothing has
  // changed.
  void step();
  void zero_grad();

  double lr() const { return lr_; }
  void set_lr(double lr);  // Error{invalid_argument} below 0

  // What is remembered from step to step, of parameter 0: "0.momentum_buffer". Empty before the first step;
  // the tensors share memory with the optimizer. Options, the learning rate too, are not part of it.
  const StateDict& state_dict() const { return state_; }
  // Copies; the next step() goes on from there. Error{invalid_argument} for the state of other parameters or
  // of another optimizer; then nothing has changed.
  void load_state_dict(const StateDict& dict);

 protected:
  // Error{invalid_argument} for a null parameter and as set_lr().
  Optimizer(std::string name, std::vector<Parameter*> parameters, double lr);
  void check_option(bool good, std::string_view option, double value) const;

  // The state before the first step, beside the parameters.
  virtual StateDict initial_state() const = 0;
  virtual void step_on(StateDict& state) = 0;

  const std::vector<Parameter*>& parameters() const { return parameters_; }

 private:
  void check_parameters() const;
  void check_state() const;

  std::string name_;
  std::vector<Parameter*> parameters_;
  double lr_ = 0;
  StateDict state_;
};

}  // namespace dist::nn
