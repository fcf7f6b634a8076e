// What a module holds: parameters, which are trained, and buffers, which are not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/tensor.h"

namespace dist::nn {

struct NamedParameter;

// What ranks have divided among them of a parameter, as far as this folder, which knows no ranks, must ask
// (mesh/placed.h has the rest).
class Division {
 public:
  virtual ~Division() = default;
  virtual bool has_all() const = 0;  // whether this rank has the whole parameter
  // The sum of the squares of the whole gradients of these parameters, each element once: [] f64. Collective
  // over all ranks among which one of the parameters is divided.
  virtual Tensor squared_norm(std::span<const NamedParameter> parameters) const = 0;
};

// Owned by its layer; optimizers and DistributedDataParallel point to it, so it is neither copied nor moved.
struct Parameter {
  Parameter() = default;
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

  Tensor value;
  // Shape, dtype and device are the value's; zeros at first. Layers add to it in place and never replace it:
  // it may be a view into a bucket, and is aligned to its elements only. Undefined while it is not trained.
  Tensor grad;
  void initialize(Tensor initial) {
    value = std::move(initial);
    grad = requires_grad_ ? zeros_like(value) : Tensor();
  }

  // Whether it is trained. Off: layers compute no gradient for it, `grad` is undefined, and optimizers leave
  // it as it is. On again: the gradient is 0. Between two steps, on all ranks alike.
  bool requires_grad() const { return requires_grad_; }
  void requires_grad(bool on);

  // Its name in the outermost module that has been asked for its parameters: "transformer.wte.weight"; for
  // messages. Empty before that.
  std::string name;

  // Which part of the parameter this rank has; null: all of it, as every other rank.
  std::shared_ptr<Division> division;

  // What listeners are notified of.
  enum class Event : std::uint8_t {
    grad_is_ready,  // a backward's contribution to `grad` is complete
    settle,         // value and grad are about to be used from outside of forward() and backward(): by an
             // optimizer, state_dict(), to(). What is gathered for a while becomes this rank's part again
    cleared,  // `grad` has been set to 0: forget sums that are kept elsewhere, too
  };
  // Calls f at each such event. One listener per event and role ("ddp"): a later one of the same role
  // replaces it, so `owner` tells whether it is still the same. Listeners are called in the order in which
  // their roles were added.
  void listen(Event event, std::string_view role, const void* owner, std::function<void()> f);
  void listen(std::string_view role, const void* owner, std::function<void()> f) {
    listen(Event::grad_is_ready, role, owner, std::move(f));
  }
  // For all events; nothing if another one has replaced it.
  void stop_listening(std::string_view role, const void* owner);
  const void* listener(std::string_view role) const;  // its owner, or null
  void notify(Event event) {
    for (const Listener& listener : listeners_)
      if (listener.event == event) listener.f();
  }
  // Called by the layer.
  void grad_is_ready() { notify(Event::grad_is_ready); }

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
    Event event;
    std::string role;
    const void* owner;
    std::function<void()> f;
  };
  std::vector<Listener> listeners_;
  BeforeStep before_step_;
  bool requires_grad_ = true;
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
