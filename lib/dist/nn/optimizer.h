// Optimizer: changes parameters by their gradients.
//
// bf16 has 8 significant bits, so a parameter in bf16 does not change by an update below 1/512 of it. By
// default (`master_weights`) an optimizer keeps an f32 copy of each such parameter, the master weight
// (Micikevicius et al. 2018): it changes that one and rounds it into the parameter. Its own state is f32
// then, too. Loss scaling is not needed: bf16 has f32's exponents, so small gradients do not become 0, as
// they do in f16.
//
// A parameter that is not trained (Parameter::requires_grad) stays as it is: no step, no decay, no state. One
// that is trained later begins as in a new optimizer, and Adam counts its steps from there; one that is
// frozen later keeps the state that it has until it is trained again. As in torch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/nn/parameter.h"
#include "dist/nn/state_dict.h"

namespace dist::nn {

// Parameters with options of their own.
struct ParameterGroup {
  std::vector<Parameter*> parameters;
  std::optional<double> weight_decay = std::nullopt;  // instead of the optimizer's
  double lr_scale = 1;                                // their learning rate is lr() times this
};

// nanoGPT's two groups: parameters with two axes or more, whose weights decay, and the others, biases and
// weights of norms, which have weight_decay 0.
std::vector<ParameterGroup> decay_groups(const std::vector<Parameter*>& parameters);

// The parameters belong to their module and must outlive the optimizer.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Changes every parameter that is trained by its gradient, in place. Gradients stay; zero_grad() clears
  // them. Throws Error{invalid_argument}, which names a parameter that is not bf16, f32 or f64, or whose
  // gradient or state differs from it in dtype, shape or device (the model was converted); then nothing has
  // changed. While a step is recorded as a graph (graphed_step.h), it is called at this place of each later
  // step.
  void step(Caller at = Caller::here());
  void zero_grad();

  // In the order of their numbers in state_dict().
  const std::vector<Parameter*>& parameters() const { return parameters_; }
  double lr() const { return lr_; }
  void set_lr(double lr);  // throws Error{invalid_argument} below 0

  // What is kept from step to step, by the parameter's number, which goes on from group to group and counts
  // those that are not trained, too: "0.momentum_buffer", "0.master_param". Empty before the first step; the
  // tensors share memory with the optimizer. Options, among them the learning rate, are not part of it. After
  // weights were loaded into the model, load the state that belongs to them, too, or make a new optimizer:
  // otherwise the next step() continues from the master weights that it has.
  const StateDict& state_dict() const { return state_; }
  // Makes the state that the next step() would begin with, of parameters that are trained and have none:
  // something to load a checkpoint into. Master weights are those of the parameters as they are now.
  // `own_steps`: every parameter also gets a step count of its own ("step.3"), as one has that was trained
  // later than the others.
  void make_state(bool own_steps = false);
  // Copies; the next step() continues from it. Throws Error{invalid_argument} for the state of other
  // parameters or of another optimizer, and names a parameter that is trained and was not when the state was
  // saved; then nothing has changed.
  void load_state_dict(const StateDict& dict);

 protected:
  // Throws Error{invalid_argument} for a parameter that is null or occurs twice, for a group's options below
  // 0, and what set_lr() throws.
  Optimizer(std::string name, std::span<const ParameterGroup> groups, double lr, double weight_decay,
            bool master_weights);
  void check_option(bool good, std::string_view option, double value) const;

  // The state before the first step. It begins with that of all parameters together; then come, for each
  // parameter with state, tensors of these names, 0 at first ("exp_avg"), and then the master weights.
  virtual StateDict common_state() const { return {}; }
  virtual std::vector<std::string> state_names() const = 0;
  // Parameter i gets a step count of its own, unless it has one: `late` 0, since it has got its state after
  // steps of others, otherwise that of all.
  virtual void add_own_step(std::size_t i, bool late, StateDict& state) const {
    (void)i, (void)late, (void)state;
  }
  virtual void step_on(StateDict& state) = 0;
  // The name of how many steps parameter i has taken, where that is not what the others have.
  static std::string own_step(std::size_t i) { return "step." + std::to_string(i); }

  // By the parameter's number.
  bool is_trained(std::size_t i) const { return parameters_[i]->requires_grad(); }
  bool has_state(std::size_t i) const { return first_entries_[i].has_value(); }
  std::size_t first_entry(std::size_t i) const { return *first_entries_[i]; }  // in the state
  double lr_of(std::size_t i) const { return lr_ * rates_[i].lr_scale; }
  double weight_decay_of(std::size_t i) const { return rates_[i].weight_decay; }
  // What a step changes: the master weight, which is then rounded into rounded(i), or the parameter itself.
  const Tensor& weight(std::size_t i) const;
  Tensor rounded(std::size_t i) const { return masters_[i].is_defined() ? parameters_[i]->value : Tensor(); }

 private:
  struct Rates {
    double lr_scale, weight_decay;
  };

  // Which parameters have state.
  using Having = std::vector<bool>;
  bool wants_master(std::size_t i) const;
  // Zeros with the shape of the parameter and the dtype of what a step changes.
  Tensor zeros_for(std::size_t i) const;
  StateDict first_state(const Having& having) const;
  void use(StateDict state, const Having& having);
  void check_parameters() const;
  // "fc.weight", in quotation marks, or "parameter 3" where no name is known.
  std::string called(std::size_t i) const;
  void check_state() const;

  std::string name_;
  std::vector<Parameter*> parameters_;
  std::vector<Rates> rates_;
  double lr_ = 0;
  bool master_weights_;
  StateDict state_;
  std::vector<std::optional<std::size_t>> first_entries_;  // of each parameter, in state_
  std::vector<Tensor> masters_;  // of each parameter, in state_; undefined where there is none
};

}  // namespace dist::nn
