// Lists of tensors, cut where the device or the dtype changes, as Ops takes one of each.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "dist/nn/ops.h"
#include "dist/nn/parameter.h"

namespace dist::nn {

// Calls f(ops, run) for each run of items whose values have one device and one dtype, and either all or none
// are master weights.
template <class Item, class F>
void for_each_run(std::span<const Item> list, const F& f) {
  while (!list.empty()) {
    const Item& first = list.front();
    const auto end = std::ranges::find_if(list, [&first](const Item& item) {
      return item.value.device() != first.value.device() || item.value.dtype() != first.value.dtype() ||
             is_master(item) != is_master(first);
    });
    const auto run = list.first(static_cast<std::size_t>(end - list.begin()));
    f(ops_for(first.value.device()), run);
    list = list.subspan(run.size());
  }
}

// Whether there are layers for GPUs (ops.cpp). A model whose modules need none can be trained without.
bool has_gpu_ops();

// Sets the gradients to 0, and notifies their listeners; on a GPU one kernel clears many of them.
inline void zero_gradients(const std::vector<Parameter*>& parameters) {
  struct Gradient {
    Tensor value, rounded = {};
  };
  std::vector<Gradient> on_gpus;
  for (Parameter* const parameter : parameters) {
    Tensor& grad = parameter->grad;
    if (!grad.is_defined()) continue;  // not trained
    const bool has_kernel = grad.dtype() == DType::f32 || grad.dtype() == DType::bf16;
    if (grad.device() != cpu && has_kernel && has_gpu_ops())
      on_gpus.push_back({grad});
    else
      grad.zero_();
  }
  for_each_run(std::span<const Gradient>(on_gpus), [](const Ops& ops, std::span<const Gradient> run) {
    std::vector<Tensor> list;
    for (const Gradient& gradient : run) list.push_back(gradient.value);
    ops.zero(list);
  });
  for (Parameter* const parameter : parameters) parameter->notify(Parameter::Event::cleared);
}

}  // namespace dist::nn
