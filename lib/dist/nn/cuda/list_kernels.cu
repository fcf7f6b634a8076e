// The kernels behind list_kernels.h: one launch works on many tensors. They go to it by value, in a table
// that fills a kernel's arguments (4 KiB): nothing is copied to the GPU before, and the host never waits.
//
// Tensors are divided into chunks, and a block takes every gridDim.x-th chunk of the table, so that small
// tensors cost no launch and large ones keep all blocks busy.
#include <algorithm>

#include "dist/nn/cuda/each.cuh"
#include "dist/nn/cuda/list_kernels.h"
#include "dist/nn/functors.h"

namespace dist::nn::cuda_kernels {

namespace {

constexpr std::size_t argument_bytes = 4096;
constexpr std::size_t other_arguments = 64;  // a kernel's function, and the number of items
constexpr std::int64_t chunk_elements = 8 * threads_per_block;

std::int64_t chunks_of(std::int64_t elements) { return (elements + chunk_elements - 1) / chunk_elements; }

// Item has `count`, the number of its elements.
template <class Item>
struct Table {
  static constexpr std::size_t most =
      (argument_bytes - other_arguments) / (sizeof(Item) + sizeof(std::int64_t));

  Item items[most];
  std::int64_t ends[most];  // the number of chunks up to the end of an item
  std::int64_t chunks;      // of all items

  // Calls f(item, i) from within a block for its elements, one thread for each.
  template <class F>
  __device__ void each_of_block(const F& f) const {
    std::int64_t begin = 0;  // the first chunk of the item
    int at = 0;
    for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
      while (chunk >= ends[at]) begin = ends[at++];
      const std::int64_t first = (chunk - begin) * chunk_elements;
      const std::int64_t end = std::min(first + chunk_elements, items[at].count);
      for (std::int64_t i = first + threadIdx.x; i < end; i += threads_per_block) f(items[at], i);
    }
  }
};

// Calls launch(table) for table after table until all of the list has been in one; item_of makes their items.
template <class Item, class Source, class ItemOf, class Launch>
cudaError_t in_tables(std::span<const Source> list, const ItemOf& item_of, const Launch& launch) {
  while (!list.empty()) {
    Table<Item> table;
    table.chunks = 0;
    const std::size_t count = std::min(list.size(), Table<Item>::most);
    for (std::size_t k = 0; k < count; ++k) {
      table.items[k] = item_of(list[k]);
      table.ends[k] = table.chunks += chunks_of(table.items[k].count);
    }
    list = list.subspan(count);
    if (table.chunks == 0) continue;
    if (const cudaError_t status = launch(table); status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

template <class Item, class F>
__global__ void each_item_kernel(const Table<Item> table, F f) {
  table.each_of_block(f);
}

// f(item, i) for every element of the list.
template <class Item, class Source, class ItemOf, class F>
cudaError_t each_item(cudaStream_t stream, std::span<const Source> list, const ItemOf& item_of, const F& f) {
  static_assert(sizeof(Table<Item>) + sizeof(F) <= argument_bytes);
  return in_tables<Item>(list, item_of, [&](const Table<Item>& table) {
    return try_launch(blocks_for(table.chunks * threads_per_block), stream, each_item_kernel<Item, F>, table,
                      f);
  });
}

// Calls f with the types of the values and gradients of a list.
template <class Item, class F>
cudaError_t visit_items(std::span<const Item> list, const F& f) {
  if (list.empty()) return cudaSuccess;
  if (is_master(list[0])) return f.template operator()<float, BFloat16>();
  return visit_elements(list[0].value.dtype(), [&f]<class T>() { return f.template operator()<T, T>(); });
}

template <class T, class G>
struct SgdPointers {
  functors::Weight<T, G> weight;
  T* v;
  const G* g;
  std::int64_t count;
  functors::SgdUpdate<float> update;
};

template <class T, class G>
struct AdamPointers {
  functors::Weight<T, G> weight;
  T *m, *v;
  const G* g;
  std::int64_t count;
  functors::AdamRates<float> rates;
};

template <class T>
struct Elements {
  T* x;
  std::int64_t count;
};
template <class T>
Elements<T> elements_of(const Tensor& t) {
  return {elements<T>(t), t.numel()};
}

// Each block adds the squares of its elements; the grid's size is part of the order in which they are added,
// so it does not depend on the GPU.
constexpr std::int64_t most_partials = 1024;
template <class Item>
std::int64_t partials_of(const Table<Item>& table) {
  return std::min(table.chunks, most_partials);
}

template <class T>
__global__ void squares_kernel(const Table<Elements<T>> table, double* partials) {
  double mine = 0;
  table.each_of_block([&mine](const Elements<T>& of, std::int64_t i) {
    const double x = of.x[i];
    mine += x * x;
  });
  const double total = over_block(mine, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

__global__ void total_kernel(double* out, const double* partials, std::int64_t count) {
  const double total = block_sum(count, [partials](std::int64_t i) { return partials[i]; });
  if (threadIdx.x == 0) *out = total;
}

template <class T>
__global__ void clip_kernel(const Table<Elements<T>> table, const double* squared_norm,
                            functors::ClipFactor factor_of) {
  const double factor = factor_of(*squared_norm);
  if (factor == 1) return;
  table.each_of_block([by = static_cast<float>(factor)](const Elements<T>& of, std::int64_t i) {
    of.x[i] = static_cast<T>(of.x[i] * by);
  });
}

template <class T, class G>
cudaError_t sgd_of(cudaStream_t stream, std::span<const SgdItem> list, double momentum) {
  using Item = SgdPointers<T, G>;
  const auto item_of = [momentum](const SgdItem& of) {
    T* const v = of.velocity.is_defined() ? elements<T>(of.velocity) : nullptr;
    return Item{functors::Weight<T, G>(of), v, elements<G>(of.grad), of.value.numel(),
                functors::SgdUpdate<float>(of, momentum)};
  };
  return each_item<Item>(stream, list, item_of, [] __device__(const Item& at, std::int64_t i) {
    float x = at.weight.value[i];
    if (at.v) {
      float v = at.v[i];
      at.update(x, at.g[i], v);
      at.v[i] = static_cast<T>(v);
    } else {
      at.update(x, at.g[i]);
    }
    at.weight.set(i, x);
  });
}

template <class T, class G>
cudaError_t adam_of(cudaStream_t stream, std::span<const AdamItem> list, const AdamStep& step) {
  using Item = AdamPointers<T, G>;
  const auto item_of = [&step](const AdamItem& of) {
    return Item{functors::Weight<T, G>(of), elements<T>(of.m), elements<T>(of.v),
                elements<G>(of.grad),       of.value.numel(),  functors::AdamRates<float>(of, step)};
  };
  return each_item<Item>(
      stream, list, item_of,
      [update = functors::AdamUpdate<float>(step)] __device__(const Item& at, std::int64_t i) {
        float x = at.weight.value[i], m = at.m[i], v = at.v[i];
        update(at.rates, x, at.g[i], m, v);
        at.weight.set(i, x);
        at.m[i] = static_cast<T>(m);
        at.v[i] = static_cast<T>(v);
      });
}

template <class T>
cudaError_t zero_of(cudaStream_t stream, std::span<const Tensor> list) {
  return each_item<Elements<T>>(stream, list, elements_of<T>,
                                [] __device__(const Elements<T>& of, std::int64_t i) { of.x[i] = T(0.F); });
}

template <class T>
cudaError_t squares_of(cudaStream_t stream, std::span<const Tensor> list, double* partials) {
  return in_tables<Elements<T>>(list, elements_of<T>, [&](const Table<Elements<T>>& table) {
    double* const to = partials;
    partials += partials_of(table);
    return try_launch(static_cast<int>(partials_of(table)), stream, squares_kernel<T>, table, to);
  });
}

template <class T>
cudaError_t clip_of(cudaStream_t stream, std::span<const Tensor> list, const Tensor& squared_norm,
                    double max_norm) {
  return in_tables<Elements<T>>(list, elements_of<T>, [&](const Table<Elements<T>>& table) {
    return try_launch(blocks_for(table.chunks * threads_per_block), stream, clip_kernel<T>, table,
                      elements<double>(squared_norm), functors::ClipFactor{max_norm});
  });
}

DType dtype_of_list(std::span<const Tensor> list) { return list.empty() ? DType::f32 : list[0].dtype(); }

}  // namespace

cudaError_t sgd(cudaStream_t stream, std::span<const SgdItem> list, double momentum) {
  return visit_items(list, [&]<class T, class G>() { return sgd_of<T, G>(stream, list, momentum); });
}

cudaError_t adam(cudaStream_t stream, std::span<const AdamItem> list, const AdamStep& step) {
  return visit_items(list, [&]<class T, class G>() { return adam_of<T, G>(stream, list, step); });
}

cudaError_t zero(cudaStream_t stream, std::span<const Tensor> list) {
  return visit_elements(dtype_of_list(list), [&]<class T>() { return zero_of<T>(stream, list); });
}

// The same for all dtypes.
std::int64_t squared_norm_partials(std::span<const Tensor> list) {
  std::int64_t count = 0;
  in_tables<Elements<float>>(list, elements_of<float>, [&count](const Table<Elements<float>>& table) {
    count += partials_of(table);
    return cudaSuccess;
  });
  return count;
}

cudaError_t squared_norm(cudaStream_t stream, Tensor out, std::span<const Tensor> list, Tensor partials) {
  const cudaError_t status = visit_elements(dtype_of_list(list), [&]<class T>() {
    return squares_of<T>(stream, list, elements<double>(partials));
  });
  if (status != cudaSuccess) return status;
  return try_launch(1, stream, total_kernel, elements<double>(out), elements<double>(partials),
                    partials.numel());
}

cudaError_t clip(cudaStream_t stream, std::span<const Tensor> list, const Tensor& squared_norm,
                 double max_norm) {
  return visit_elements(dtype_of_list(list),
                        [&]<class T>() { return clip_of<T>(stream, list, squared_norm, max_norm); });
}

}  // namespace dist::nn::cuda_kernels
