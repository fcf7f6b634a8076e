// Module: a layer, or several, with an explicit forward and backward. Who writes one derives from it,
// registers what it holds in the constructor, and keeps in forward() what backward() needs.
//
// A module belongs to one thread at a time. Names and orders are those of torch.nn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/nn/parameter.h"
#include "dist/nn/state_dict.h"

namespace dist::nn {

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;  // others point to its parameters
  Module& operator=(const Module&) = delete;

  // Keeps what backward() needs. The output shares no memory that a later forward() writes.
  virtual Tensor forward(const Tensor& input) = 0;

  // Of the last forward(), once: adds to the gradients of the parameters, the last registered first, tells
  // each when its own is complete, and returns the gradient of the input. `grad_output` has the shape of the
  // output. Error{invalid_argument} without a forward() since the last backward().
  virtual Tensor backward(const Tensor& grad_output) = 0;

  // From now on backward() need not compute the gradient of the input, and may return an undefined tensor:
  // for a model that is fed with data.
  virtual void skip_input_grad() {}

  // For messages: "Linear(8, 16)".
  virtual std::string str() const { return "Module"; }

  // In order of registration, depth first, own before those of children: "0.weight", "fc1.bias".
  std::vector<NamedParameter> named_parameters();
  std::vector<NamedBuffer> named_buffers();
  std::vector<Parameter*> parameters();

  // Names and values, parameters and buffers, in the order in which torch has them. They share memory with
  // the module: clone() what is to stay as it is.
  StateDict state_dict();
  // Copies into the module's tensors. Error{invalid_argument} naming what is missing, what is there too much,
  // or has another shape or dtype; then nothing has changed.
  void load_state_dict(const StateDict& dict);

  // Whether this is training or evaluation: some layers differ (BatchNorm2d). At first it is training.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }

  void zero_grad();
  // Values, gradients and buffers are moved or converted (buffers of integers stay integers). What points
  // into the old ones, as a bucket does, is to be made afterwards.
  void to(Device device);
  void to(DType dtype);

 protected:
  // The names are local: "weight". Error{invalid_argument} for an empty or second one, or one with a dot.
  void register_parameter(std::string name, Parameter& parameter);
  void register_buffer(std::string name, Buffer& buffer);
  void register_module(std::string name, Module& child);

 private:
  struct Child {
    std::string name;
    Module* module;
  };
  // Calls f(prefix, module) for this module and all below.
  template <class F>
  void visit(const std::string& prefix, const F& f);
  void check_name(std::string_view name) const;

  std::vector<NamedParameter> parameters_;
  std::vector<NamedBuffer> buffers_;
  std::vector<Child> children_;
  bool training_ = true;
};

}  // namespace dist::nn
