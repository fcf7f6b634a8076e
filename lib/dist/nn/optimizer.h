// Optimizer: changes parameters by their gradients.
#pragma once

#include <string>
#include <vector>

#include "dist/nn/parameter.h"
#include "dist/nn/state_dict.h"

namespace dist::nn {

// The parameters belong to their module and must outlive the optimizer.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Changes every parameter by its gradient, in place. Gradients stay; zero_grad() clears them. Throws
  // Error{invalid_argument}, which names a parameter that is neither f32 nor f64, or whose gradient or state
  // differs from it in dtype, shape or device (the model was converted); then nothing has changed.
  void step();
  void zero_grad();

  double lr() const { return lr_; }
  void set_lr(double lr);  // throws Error{invalid_argument} below 0

  // What is kept from step to step, by parameter: "0.momentum_buffer". Empty before the first step; the
  // tensors share memory with the optimizer. Options, among them the learning rate, are not part of it.
  const StateDict& state_dict() const { return state_; }
  // Copies; the next step() continues from it. Throws Error{invalid_argument} for the state of other
  // parameters or of another optimizer; then nothing has changed.
  void load_state_dict(const StateDict& dict);

 protected:
  // Throws Error{invalid_argument} for a null parameter, and what set_lr() throws.
  Optimizer(std::string name, std::vector<Parameter*> parameters, double lr);
  void check_option(bool good, std::string_view option, double value) const;

  // The state before the first step, besides the parameters.
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
