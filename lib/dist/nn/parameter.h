// What a module holds: parameters, which are trained, and buffers, which are not.
#pragma once

#include <functional>
#include <string>
#include <utility>

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
  // Called when a backward's contribution to `grad` is complete; often empty.
  std::function<void()> on_grad_ready;

  void initialize(Tensor initial) {
    value = std::move(initial);
    grad = zeros_like(value);
  }
  void grad_is_ready() {
    if (on_grad_ready) on_grad_ready();
  }
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
