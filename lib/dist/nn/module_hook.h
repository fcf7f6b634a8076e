// ModuleHook: what is done around a module's forward() and backward() without changing the module. Gathering
// sharded parameters, splitting a layer over ranks and recomputing activations are hooks.
#pragma once

#include "dist/core/tensor.h"

namespace dist::nn {

class Module;

// Each function takes a tensor on its way into or out of the module, and returns the one to go on with; the
// base class changes nothing.
class ModuleHook {
 public:
  virtual ~ModuleHook() = default;
  virtual Tensor before_forward(Module&, const Tensor& input) { return input; }
  virtual Tensor after_forward(Module&, const Tensor& output) { return output; }
  virtual Tensor before_backward(Module&, const Tensor& grad_output) { return grad_output; }
  // Only for Linear: the gradient of its input is ready, and those of its parameters are computed next. A
  // collective on `grad_input` started here overlaps with them; after_backward() waits for it.
  virtual void on_input_grad(Module&, Tensor& grad_input) { (void)grad_input; }
  virtual Tensor after_backward(Module&, const Tensor& grad_input) { return grad_input; }
  // Around the computation of deferred gradients (Module::run_parameter_grads), the children's, too.
  virtual void before_parameter_grads(Module&) {}
  virtual void after_parameter_grads(Module&) {}
  // A forward() or backward() of this module or of one around it has thrown: forget what is under way, so
  // that the next forward() begins as the first one did. Called while the error is on its way; must not
  // throw.
  virtual void abandon(Module&) noexcept {}
};

}  // namespace dist::nn
