// Lists of tensors, cut where the device or the dtype changes, as Ops takes one of each.
#pragma once

#include <algorithm>
#include <span>

#include "dist/nn/ops.h"

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

}  // namespace dist::nn
