// Module: a layer, or several, with an explicit forward and backward. To write one, derive from it, register
// its parts in the constructor, override run_forward() and run_backward(), and keep (kept.h) in the first
// what the second needs.
//
// A module must be used by one thread at a time. Names and orders are those of torch.nn.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/nn/module_hook.h"
#include "dist/nn/parameter.h"
#include "dist/nn/state_dict.h"

namespace dist::nn {

class KeptBase;

// Which part of which training step the next forward() computes: what counter-based random numbers (Dropout)
// depend on, so that any division of the work among ranks draws the same ones.
struct Position {
  std::uint64_t seed = 0, step = 0;
  std::int64_t first_row = 0;  // of the step's whole batch: the first row of this forward's input
  // Which tokens of each sequence the input has, as runs one after the other; empty: all from 0 on. A
  // context-parallel rank has one or two runs (parallel/context).
  struct Run {
    std::int64_t first, count;
  };
  std::vector<Run> tokens = {};
};

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;  // its parameters are pointed to
  Module& operator=(const Module&) = delete;

  // Keeps what backward() needs: nothing, if this module needs none. The output does not share memory that a
  // later forward() writes.
  //
  // A forward() or backward() that throws ends the step: this module and all below it forget every forward()
  // that had no backward(), and what their hooks have under way. The next step, after zero_grad(), is that of
  // a module that never saw the failed one.
  Tensor forward(const Tensor& input);

  // Call it once after forward(). Accumulates: it adds to the gradients of the parameters, those registered
  // last first, and notifies each parameter when its gradient is complete. Returns the gradient of the input,
  // or an undefined tensor if it is not wanted. `grad_output` has the shape of the output. Throws
  // Error{invalid_argument} without a forward() since the last backward(). Does nothing if this module needs
  // no backward.
  Tensor backward(const Tensor& grad_output);

  // From now on backward() need not compute the gradient of the input, and returns an undefined tensor. For a
  // model whose input is data.
  virtual void skip_input_grad() { skips_input_grad_ = true; }
  // Whether the last forward()'s backward() computes the gradient of the input: unless it is skipped, or the
  // module around this one has found that nothing before it is trained (forward_child()).
  bool wants_input_grad() const { return input_needs_grad_ && !skips_input_grad_; }
  // Whether a backward() has anything to compute: a gradient of the input, or of a parameter that is trained.
  bool needs_backward() const { return wants_input_grad() || trains(); }

  // For messages: "Linear(8, 16)".
  virtual std::string str() const { return "Module"; }

  // In the order of registration, depth first, a module's own before its children's: "0.weight", "fc1.bias".
  std::vector<NamedParameter> named_parameters();
  std::vector<NamedBuffer> named_buffers();
  std::vector<Parameter*> parameters();
  // This module and all below it, each before its children.
  std::vector<Module*> modules();
  // The parameters of other modules that this one uses, too (its children's not among them).
  const std::vector<NamedParameter>& tied_parameters() const { return tied_; }
  // This module, as "", and all below it: "0", "transformer.h.0.attn", each before its children.
  struct NamedModule {
    std::string name;
    Module* module;
  };
  std::vector<NamedModule> named_modules();

  // Names and values of parameters and buffers, in torch's order. They share memory with the module: clone()
  // what must not change. Where ranks have divided the module they are this rank's parts; full_state_dict()
  // (dist/parallel/full_state.h) has the whole.
  StateDict state_dict();
  // Copies into the module's tensors. Throws Error{invalid_argument}, which names what is missing,
  // superfluous, or of another shape or dtype; then nothing has changed. A tied parameter may be under one of
  // its names only.
  void load_state_dict(const StateDict& dict);

  // Switches between training, the initial mode, and evaluation: some layers behave differently
  // (BatchNorm2d).
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }

  // From now on the hook is called around forward() and backward(). The first hook is the outermost: before_*
  // are called in the order of registration, after_* and on_input_grad() in reverse.
  void add_hook(std::shared_ptr<ModuleHook> hook) { hooks_.push_back(std::move(hook)); }
  void add_outermost_hook(std::shared_ptr<ModuleHook> hook) {
    hooks_.insert(hooks_.begin(), std::move(hook));
  }
  const std::vector<std::shared_ptr<ModuleHook>>& hooks() const { return hooks_; }
  // forward() once more without this module's own hooks, for a hook that computes again what it has dropped.
  Tensor forward_again(const Tensor& input) { return run_forward(input); }

  // For the next forward() of this module and all below it. Initially all 0.
  void set_position(const Position& position);
  const Position& position() const { return position_; }

  // How many forward() of this module and all below it can wait for their backward(), which takes the oldest
  // first: initially 1. A pipeline has several under way. One too many drops the oldest.
  void set_forwards_kept(std::size_t depth);
  std::size_t forwards_kept() const { return forwards_kept_; }
  // The first module, of this one and all below it, that has kept more than one forward(); null: none. After
  // one forward() of this module, it is used in two places.
  const Module* used_twice();
  // Drops what the last forward() of this module and all below it kept.
  void forget_forward();
  // Drops what all of them kept, deferred gradients, and what hooks have under way: a step is given up.
  void abandon_step() noexcept;

  // From now on backward() of this module and all below it leaves the gradients of the parameters to
  // run_parameter_grads(), and computes the gradient of the input alone, so that a pipeline need not
  // wait for more.
  void defer_parameter_grads(bool on = true);
  bool defers_parameter_grads() const { return defers_; }
  // Computes the parameters' gradients of the oldest backward() that has deferred them.
  void run_parameter_grads();

  // Sets the gradients to 0, and those that are summed up elsewhere until they are reduced (fully_shard,
  // ZeroOptimizer). A forward() after it is that of a new step: those before it that had no backward() by
  // then are dropped.
  void zero_grad();
  // Whether the parameters of this module and all below it are trained (Parameter::requires_grad), tied ones
  // among them.
  void requires_grad(bool on);
  bool trains() const;  // whether one of them is
  // Moves or converts values, gradients and buffers (integer buffers stay integers). Anything that points
  // into the old tensors, as a bucket does, must be made afterwards.
  void to(Device device);
  void to(DType dtype);

 protected:
  // forward() and backward() without hooks.
  virtual Tensor run_forward(const Tensor& input) = 0;
  virtual Tensor run_backward(const Tensor& grad_output) = 0;

  // For run_forward() of a module that calls others: child.forward(input). `needs_grad` says whether the
  // input's gradient is needed, and then whether the output's is: as in torch, if the input's is or if the
  // child is trained. Backward goes down to the first child that is trained, and forward keeps nothing before
  // it. With child.forward() instead, the child takes it that the gradient of its input is needed.
  //   bool needs_grad = wants_input_grad();
  //   return forward_child(head_, forward_child(backbone_, input, needs_grad), needs_grad);
  static Tensor forward_child(Module& child, const Tensor& input, bool& needs_grad);

  // For run_backward(): calls `work`, which adds to the gradients of this module's own parameters, now or
  // when deferred gradients are due. At most once per backward.
  template <class F>
  void add_parameter_grads(F work) {
    if (defers_) {
      deferred_.push_back(std::move(work));
    } else {
      work();
    }
  }
  // For run_backward(), before add_parameter_grads(): lets hooks act on the gradient of the input.
  void announce_input_grad(Tensor& grad_input);

  // Names are local: "weight". Throws Error{invalid_argument} for an empty name, one that is in use, or one
  // with a dot.
  void register_parameter(std::string name, Parameter& parameter);
  // Another module's parameter, which this one uses, too: it is in state_dict() under both names, as in
  // torch, and otherwise the other module's.
  void register_tied(std::string name, Parameter& parameter);
  void register_buffer(std::string name, Buffer& buffer);
  void register_module(std::string name, Module& child);
  void unregister_module(Module& child);

 private:
  friend class KeptBase;  // registers itself
  struct Child {
    std::string name;
    Module* module;
  };
  Tensor forward(const Tensor& input, bool input_needs_grad);
  Tensor hooked_forward(const Tensor& input);
  Tensor hooked_backward(const Tensor& grad_output);
  // Calls f(prefix, module) for this module and all modules below it.
  template <class F>
  void visit(const std::string& prefix, const F& f);
  void check_name(std::string_view name) const;

  std::vector<NamedParameter> parameters_, tied_;
  std::vector<NamedBuffer> buffers_;
  std::vector<Child> children_;
  std::vector<KeptBase*> kept_;
  std::vector<std::shared_ptr<ModuleHook>> hooks_;
  std::deque<std::function<void()>> deferred_;  // the parameters' gradients of each backward()
  Position position_;
  std::size_t forwards_kept_ = 1;
  bool defers_ = false;
  bool training_ = true;
  bool input_needs_grad_ = true, skips_input_grad_ = false;
};

}  // namespace dist::nn
