// What forward and backward of attention on a GPU share: its arguments, and how blocks of threads divide the
// work.
#pragma once

#include "dist/nn/cuda/row_kernels.h"
#include "dist/nn/cuda/tiles.cuh"
#include "dist/nn/elements.h"
#include "dist/nn/row_functors.h"

namespace dist::nn::cuda_kernels {

template <class T>
struct HeadsView {
  T* first;
  std::int64_t time, width, count;
  int size;

  explicit HeadsView(const Heads& h)
      : first(elements<T>(h.of) + h.first),
        time(h.time()),
        width(h.width()),
        count(h.count),
        size(static_cast<int>(h.size)) {}

  __device__ MatrixRows<T> head(std::int64_t b, std::int64_t h) const {
    return {first + b * time * width + h * size, width, time, size};
  }
};

template <class T>
struct Attention {
  HeadsView<T> q, k, v;
  std::int64_t batch;
  float scale;
  bool causal, drops;
  std::int64_t ahead;  // how far the first query's position is ahead of the first key's
  functors::Drop<float> drop;

  Attention(const Heads& queries, const Heads& keys, const Heads& values, const AttentionOptions& options)
      : q(queries),
        k(keys),
        v(values),
        batch(queries.batch()),
        scale(static_cast<float>(options.scale)),
        causal(options.causal),
        drops(options.dropout.p > 0),
        ahead(options.first_query - options.first_key),
        drop(options.dropout) {}

  // Queries per head of keys.
  __device__ std::int64_t group() const { return q.count / k.count; }
  // How many keys a query sees: the first ones.
  __device__ std::int64_t visible(std::int64_t query) const {
    if (query >= q.time) return 0;
    const std::int64_t seen = causal ? ahead + query + 1 : k.time;
    return seen < 0 ? 0 : seen > k.time ? k.time : seen;
  }
  // How many the last query of a tile sees.
  __device__ std::int64_t visible_to_tile(std::int64_t begin, int queries) const {
    return visible((begin + queries < q.time ? begin + queries : q.time) - 1);
  }
  // The first query that sees a key.
  __device__ std::int64_t first_query(std::int64_t key) const {
    return causal && key > ahead ? key - ahead : 0;
  }
  // The number of head h's query among all; also the place of its lse.
  __device__ std::int64_t number(std::int64_t b, std::int64_t h, std::int64_t query) const {
    return (b * q.count + h) * q.time + query;
  }
  // What dropout multiplies the probability of a key for query `number` by.
  __device__ float kept(std::int64_t number, std::int64_t key) const {
    return drops ? drop.on_device(number * k.time + key) : 1.F;
  }
};

// What a block computes: the tile that begins at row `begin` of head h of sample b. Where attention is causal
// the last queries take longest, and the first keys: these blocks start first.
struct Work {
  std::int64_t b, h, begin;

  __device__ Work(std::int64_t heads, std::int64_t batch, int tile, bool from_the_end) {
    const std::int64_t block = from_the_end ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    h = block % heads;
    b = block / heads % batch;
    begin = block / heads / batch * tile;
  }
};

// One block per tile of each head.
template <class... Parameters, class... Arguments>
cudaError_t launch_tiles(cudaStream_t stream, const Heads& heads, int tile, void (*kernel)(Parameters...),
                         const Arguments&... arguments) {
  const std::int64_t blocks = heads.batch() * heads.count * ((heads.time() + tile - 1) / tile);
  if (blocks == 0) return cudaSuccess;
  return try_launch(static_cast<int>(blocks), stream, kernel, arguments...);
}

// Calls f with the number of columns of the tiles for heads of this size. As many rows as 48 KiB of shared
// memory can hold.
template <class F>
cudaError_t with_columns(std::int64_t size, const F& f) {
  if (size <= 32) return f.template operator()<32>();
  if (size <= 64) return f.template operator()<64>();
  return f.template operator()<largest_head>();
}

}  // namespace dist::nn::cuda_kernels
