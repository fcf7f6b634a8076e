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

struct SgdPointers {
  float *x, *v;
  const float* g;
  std::int64_t count;
  functors::SgdUpdate<float> update;
};

struct AdamPointers {
  float *x, *m, *v;
  const float* g;
  std::int64_t count;
  functors::AdamRates<float> rates;
};

struct Elements {
  float* x;
  std::int64_t count;
};
Elements elements_of(const Tensor& t) { return {elements<float>(t), t.numel()}; }

// Each block adds the squares of its elements; the grid's size is part of the order in which they are added,
// so it does not depend on the GPU.
constexpr std::int64_t most_partials = 1024;
std::int64_t partials_of(const Table<Elements>& table) { return std::min(table.chunks, most_partials); }

__global__ void squares_kernel(const Table<Elements> table, double* partials) {
  double mine = 0;
  table.each_of_block([&mine](const Elements& of, std::int64_t i) { mine += double{of.x[i]} * of.x[i]; });
  const double total = over_block(mine, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

__global__ void total_kernel(double* out, const double* partials, std::int64_t count) {
  const double total = block_sum(count, [partials](std::int64_t i) { return partials[i]; });
  if (threadIdx.x == 0) *out = total;
}

__global__ void clip_kernel(const Table<Elements> table, const double* squared_norm,
                            functors::ClipFactor factor_of) {
  const double factor = factor_of(*squared_norm);
  if (factor == 1) return;
  table.each_of_block(
      [by = static_cast<float>(factor)](const Elements& of, std::int64_t i) { of.x[i] *= by; });
}

}  // namespace

cudaError_t sgd(cudaStream_t stream, std::span<const SgdItem> list, double momentum) {
  const auto item_of = [momentum](const SgdItem& of) {
    float* const v = of.velocity.is_defined() ? elements<float>(of.velocity) : nullptr;
    return SgdPointers{elements<float>(of.value), v, elements<float>(of.grad), of.value.numel(),
                       functors::SgdUpdate<float>(of, momentum)};
  };
  return each_item<SgdPointers>(stream, list, item_of, [] __device__(const SgdPointers& at, std::int64_t i) {
    at.v ? at.update(at.x[i], at.g[i], at.v[i]) : at.update(at.x[i], at.g[i]);
  });
}

cudaError_t adam(cudaStream_t stream, std::span<const AdamItem> list, const AdamStep& step) {
  const auto item_of = [&step](const AdamItem& of) {
    return AdamPointers{elements<float>(of.value), elements<float>(of.m),
                        elements<float>(of.v),     elements<float>(of.grad),
                        of.value.numel(),          functors::AdamRates<float>(of, step)};
  };
  return each_item<AdamPointers>(
      stream, list, item_of,
      [update = functors::AdamUpdate<float>(step)] __device__(const AdamPointers& at, std::int64_t i) {
        update(at.rates, at.x[i], at.g[i], at.m[i], at.v[i]);
      });
}

std::int64_t squared_norm_partials(std::span<const Tensor> list) {
  std::int64_t count = 0;
  in_tables<Elements>(list, elements_of, [&count](const Table<Elements>& table) {
    count += partials_of(table);
    return cudaSuccess;
  });
  return count;
}

cudaError_t squared_norm(cudaStream_t stream, Tensor out, std::span<const Tensor> list, Tensor partials) {
  double* next = elements<double>(partials);
  const cudaError_t status = in_tables<Elements>(list, elements_of, [&](const Table<Elements>& table) {
    double* const to = next;
    next += partials_of(table);
    return try_launch(static_cast<int>(partials_of(table)), stream, squares_kernel, table, to);
  });
  if (status != cudaSuccess) return status;
  return try_launch(1, stream, total_kernel, elements<double>(out), elements<double>(partials),
                    partials.numel());
}

cudaError_t clip(cudaStream_t stream, std::span<const Tensor> list, const Tensor& squared_norm,
                 double max_norm) {
  return in_tables<Elements>(list, elements_of, [&](const Table<Elements>& table) {
    return try_launch(blocks_for(table.chunks * threads_per_block), stream, clip_kernel, table,
                      elements<double>(squared_norm), functors::ClipFactor{max_norm});
  });
}

}  // namespace dist::nn::cuda_kernels
