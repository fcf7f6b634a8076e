// Module: a layer, or several, with an explicit forward and backward. To write one, derive from it, register
// its parts in the constructor, and keep in forward() what backward() needs.
//
// A module must be used by one thread at a time. Names and orders are those of torch.nn.
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
  Module(const Module&) = delete;  // its parameters are pointed to
  Module& operator=(const Module&) = delete;

  // Keeps what backward() needs. The output does not share memory that a later forward() writes.
  virtual Tensor forward(const Tensor& input) = 0;

  // Call it once after forward(). Accumulates: it adds to the gradients of the parameters, those registered
  // last first, and notifies each parameter when its gradient is complete. Returns the gradient of the input.
  // `grad_output` has the shape of the output. Throws Error{invalid_argument} without a forward() since the
  // last backward().
  virtual Tensor backward(const Tensor& grad_output) = 0;

  // From now on backward() need not compute the gradient of the input and may return an undefined tensor. For
  // a model whose input is data.
  virtual void skip_input_grad() {}

  // For messages: "Linear(8, 16)".
  virtual std::string str() const { return "Module"; }

  // In the order of registration, depth first, a module's own before its children's: "0.weight", "fc1.bias".
  std::vector<NamedParameter> named_parameters();
  std::vector<NamedBuffer> named_buffers();
  std::vector<Parameter*> parameters();

  // Names and values of parameters and buffers, in torch's order. They share memory with the module: clone()
  // what must not change.
  StateDict state_dict();
  // Copies into the module's tensors. Throws Error{invalid_argument}, which names what is missing,
  // superfluous, or of another shape or dtype; then nothing has changed.
  void load_state_dict(const StateDict& dict);

  // Switches between training, the initial mode, and evaluation: some layers behave differently
  // (BatchNorm2d).
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }

  void zero_grad();
  // Moves or converts values, gradients and buffers (integer buffers stay integers). What points into the old
  // tensors, as a bucket does, must be made afterwards.
  void to(Device device);
  void to(DType dtype);

 protected:
  // Names are local: "weight". Throws Error{invalid_argument} for an empty name, one that is in use, or one
  // with a dot.
  void register_parameter(std::string name, Parameter& parameter);
  void register_buffer(std::string name, Buffer& buffer);
  void register_module(std::string name, Module& child);

 private:
  struct Child {
    std::string name;
    Module* module;
  };
  // Calls f(prefix, module) for this module and all modules below it.
  template <class F>
  void visit(const std::string& prefix, const F& f);
  void check_name(std::string_view name) const;

  std::vector<NamedParameter> parameters_;
  std::vector<NamedBuffer> buffers_;
  std::vector<Child> children_;
  bool training_ = true;
};

}  // namespace dist::nn
