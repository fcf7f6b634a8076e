// What a module holds: parameters, which are trained, and buffers, which are not.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/tensor.h"

namespace dist::nn {

// Owned by its layer; optimizers and DistributedDataParallel point to it, so it is neither copied nor moved.
struct Parameter {
  Parameter() = default;
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

  Tensor value;
  // Shape, dtype and device are the value's; zeros at first. Layers add to it in place and never replace it:
  // it may be a view into a bucket, and is aligned to its elements only.
  Tensor grad;
  void initialize(Tensor initial) {
    value = std::move(initial);
    grad = zeros_like(value);
  }

  // Calls f whenever a backward's contribution to `grad` is complete. One listener per role ("ddp"): a later
  // one of the same role replaces it, so `owner` tells whether it is still the same. Listeners are called in
  // the order in which their roles were added.
  void listen(std::string_view role, const void* owner, std::function<void()> f);
  void stop_listening(std::string_view role, const void* owner);  // nothing if another one has replaced it
  const void* listener(std::string_view role) const;              // its owner, or null
  // Called by the layer.
  void grad_is_ready() {
    for (const Listener& listener : listeners_) listener.f();
  }

  // Calls f at the beginning of each step of an optimizer that has this parameter, with all parameters of the
  // optimizer and the line of the step: the last moment at which a gradient can be looked at. A later f
  // replaces it.
  using BeforeStep = std::function<void(const std::vector<Parameter*>& all, CallSite where)>;
  void before_step(BeforeStep f) { before_step_ = std::move(f); }
  // Called by the optimizer.
  void step_begins(const std::vector<Parameter*>& all, CallSite where) {
    if (before_step_) before_step_(all, where);
  }

 private:
  struct Listener {
    std::string role;
    const void* owner;
    std::function<void()> f;
  };
  std::vector<Listener> listeners_;
  BeforeStep before_step_;
};

// State that is not trained: running_mean, ...
struct Buffer {
  Tensor value;
};

struct NamedParameter {
  std::string name;  // "0.weight", "fc1.bias"
  Parameter* parameter;
};
struct NamedBuffer {
  std::string name;
  Buffer* buffer;
};

}  // namespace dist::nn
