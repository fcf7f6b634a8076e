// Attention on a GPU (Dao et al. 2022, FlashAttention): scores exist only in tiles. Forward: a block of
// threads per tile of queries, which goes through the keys with a running maximum and sum (Milakov,
// Gimelshein 2018). Backward computes the scores again, twice: a block per tile of keys for the gradients of
// k and v, and a block per tile of queries for that of q, so no block adds to what another one adds to.
#include <limits>

#include "dist/nn/cuda/row_kernels.h"
#include "dist/nn/cuda/tiles.cuh"
#include "dist/nn/elements.h"
#include "dist/nn/row_functors.h"

namespace dist::nn::cuda_kernels {

namespace {

struct HeadsView {
  float* first;
  std::int64_t time, width, count;
  int size;

  explicit HeadsView(const Heads& h)
      : first(elements<float>(h.of) + h.first),
        time(h.time()),
        width(h.width()),
        count(h.count),
        size(static_cast<int>(h.size)) {}

  __device__ MatrixRows head(std::int64_t b, std::int64_t h) const {
    return {first + b * time * width + h * size, width, time, size};
  }
};

struct Attention {
  HeadsView q, k, v;
  std::int64_t batch;
  float scale;
  bool causal, drops;
  std::int64_t ahead;  // of the first query's position before the first key's
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
    return drops ? drop(number * k.time + key) : 1.F;
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

template <int size, int queries, int keys>
__global__ void attention_kernel(Attention a, HeadsView out, float* lse) {
  __shared__ Tile<queries, size> q;
  __shared__ Tile<keys, size> kv;  // the keys, then their values
  __shared__ Tile<queries, keys> p;
  const Work work(a.q.count, a.batch, queries, true);
  const MatrixRows to = out.head(work.b, work.h), k_rows = a.k.head(work.b, work.h / a.group()),
                   v_rows = a.v.head(work.b, work.h / a.group());
  load(q, a.q.head(work.b, work.h), work.begin);

  Part<queries, size> sums{};  // of probability times value, and of the probabilities: up to a factor
  constexpr int height = Part<queries, size>::height;
  float largest[height], totals[height] = {};
  for (float& score : largest) score = -std::numeric_limits<float>::max();

  const std::int64_t end = a.visible_to_tile(work.begin, queries);
  for (std::int64_t begin = 0; begin < end; begin += keys) {
    __syncthreads();
    load(kv, k_rows, begin);
    __syncthreads();
    Part<queries, keys> scores{};
    add_product<size>(
        scores, [&](int i, int d) { return q.at[i][d]; }, [&](int d, int j) { return kv.at[j][d]; });
#pragma unroll
    for (int i = 0; i < height; ++i) {
      const std::int64_t query = work.begin + scores.row(i), seen = a.visible(query) - begin;
      const std::int64_t number = a.number(work.b, work.h, query);
      float top = largest[i];
      for (int j = 0; j < scores.width; ++j) {
        float& score = scores.of[i][j];
        score = scores.column(j) < seen ? score * a.scale : -std::numeric_limits<float>::infinity();
        if (score > top) top = score;
      }
      top = over_row(top, [](float x, float y) { return x > y ? x : y; });
      const float shrink = functors::exponential(largest[i] - top);
      largest[i] = top;
      totals[i] *= shrink;
      for (float& sum : sums.of[i]) sum *= shrink;
      for (int j = 0; j < scores.width; ++j) {
        const float weight = functors::exponential(scores.of[i][j] - top);
        totals[i] += weight;
        p.at[scores.row(i)][scores.column(j)] = weight * a.kept(number, begin + scores.column(j));
      }
    }
    __syncthreads();
    load(kv, v_rows, begin);
    __syncthreads();
    add_product<keys>(
        sums, [&](int i, int j) { return p.at[i][j]; }, [&](int j, int d) { return kv.at[j][d]; });
  }

#pragma unroll
  for (int i = 0; i < height; ++i) {
    const std::int64_t query = work.begin + sums.row(i);
    const float total = over_row(totals[i], [](float x, float y) { return x + y; });
    if (query >= a.q.time) continue;
    const bool sees_none = a.visible(query) == 0;
    if (along() == 0)
      lse[a.number(work.b, work.h, query)] =
          sees_none ? -std::numeric_limits<float>::infinity() : largest[i] + std::log(total);
    for (int j = 0; j < sums.width; ++j)
      if (sums.column(j) < out.size) to[query][sums.column(j)] = sees_none ? 0.F : sums.of[i][j] / total;
  }
}

// What backward gets besides the forward's arguments.
struct Backward {
  HeadsView grad_out;
  const float *lse, *totals;
};

template <int size, int tile>
struct Tiles {
  Tile<tile, size> q, g, k, v;  // g: the gradient of the output
  Tile<tile, tile> ds, p;       // the gradients of the scores, and the probabilities after dropout
};

// ds and p for a tile of queries and a tile of keys. The formulas are in plain_attention.cpp.
template <int size, int tile>
__device__ void score_gradients(const Attention& a, const Backward& of, const Work& queries,
                                std::int64_t first_key, Tiles<size, tile>& t) {
  Part<tile, tile> scores{}, grads{};
  add_product<size>(
      scores, [&](int i, int d) { return t.q.at[i][d]; }, [&](int d, int j) { return t.k.at[j][d]; });
  add_product<size>(
      grads, [&](int i, int d) { return t.g.at[i][d]; }, [&](int d, int j) { return t.v.at[j][d]; });
#pragma unroll
  for (int i = 0; i < scores.height; ++i) {
    const std::int64_t query = queries.begin + scores.row(i), seen = a.visible(query) - first_key;
    const std::int64_t number = a.number(queries.b, queries.h, query);
    const bool is_there = query < a.q.time;
    const float lse = is_there ? of.lse[number] : 0.F, total = is_there ? of.totals[number] : 0.F;
#pragma unroll
    for (int j = 0; j < scores.width; ++j) {
      const int row = scores.row(i), column = scores.column(j);
      const float probability = column < seen ? functors::exponential(scores.of[i][j] * a.scale - lse) : 0.F;
      const float kept = a.kept(number, first_key + column);
      t.ds.at[row][column] = probability * (kept * grads.of[i][j] - total) * a.scale;
      t.p.at[row][column] = probability * kept;
    }
  }
}

template <int size, int tile>
__global__ void key_gradients_kernel(Attention a, Backward of, HeadsView grad_k, HeadsView grad_v) {
  __shared__ Tiles<size, tile> t;
  const Work work(a.k.count, a.batch, tile, false);
  load(t.k, a.k.head(work.b, work.h), work.begin);
  load(t.v, a.v.head(work.b, work.h), work.begin);
  Part<tile, size> of_k{}, of_v{};
  Work queries = work;
  for (queries.h = work.h * a.group(); queries.h < (work.h + 1) * a.group(); ++queries.h) {
    const MatrixRows q_rows = a.q.head(work.b, queries.h), g_rows = of.grad_out.head(work.b, queries.h);
    queries.begin = a.first_query(work.begin) / tile * tile;
    for (; queries.begin < a.q.time; queries.begin += tile) {
      __syncthreads();
      load(t.q, q_rows, queries.begin);
      load(t.g, g_rows, queries.begin);
      __syncthreads();
      score_gradients(a, of, queries, work.begin, t);
      __syncthreads();
      add_product<tile>(
          of_v, [&](int j, int i) { return t.p.at[i][j]; }, [&](int i, int d) { return t.g.at[i][d]; });
      add_product<tile>(
          of_k, [&](int j, int i) { return t.ds.at[i][j]; }, [&](int i, int d) { return t.q.at[i][d]; });
    }
  }
  add_to(grad_k.head(work.b, work.h), work.begin, of_k);
  add_to(grad_v.head(work.b, work.h), work.begin, of_v);
}

template <int size, int tile>
__global__ void query_gradients_kernel(Attention a, Backward of, HeadsView grad_q) {
  __shared__ Tiles<size, tile> t;
  const Work work(a.q.count, a.batch, tile, true);
  const MatrixRows k_rows = a.k.head(work.b, work.h / a.group()),
                   v_rows = a.v.head(work.b, work.h / a.group());
  load(t.q, a.q.head(work.b, work.h), work.begin);
  load(t.g, of.grad_out.head(work.b, work.h), work.begin);
  Part<tile, size> of_q{};
  const std::int64_t end = a.visible_to_tile(work.begin, tile);
  for (std::int64_t begin = 0; begin < end; begin += tile) {
    __syncthreads();
    load(t.k, k_rows, begin);
    load(t.v, v_rows, begin);
    __syncthreads();
    score_gradients(a, of, work, begin, t);
    __syncthreads();
    add_product<tile>(
        of_q, [&](int i, int j) { return t.ds.at[i][j]; }, [&](int j, int d) { return t.k.at[j][d]; });
  }
  add_to(grad_q.head(work.b, work.h), work.begin, of_q);
}

// One block per tile of each head.
template <class... Parameters, class... Arguments>
cudaError_t launch_tiles(cudaStream_t stream, const Heads& heads, int tile, void (*kernel)(Parameters...),
                         const Arguments&... arguments) {
  const std::int64_t blocks = heads.batch() * heads.count * ((heads.time() + tile - 1) / tile);
  if (blocks == 0) return cudaSuccess;
  return try_launch(static_cast<int>(blocks), stream, kernel, arguments...);
}

// Calls f with the number of columns of the tiles for heads of this size. The rows are as many as 48 KiB of
// shared memory take.
template <class F>
cudaError_t with_columns(std::int64_t size, const F& f) {
  if (size <= 32) return f.template operator()<32>();
  if (size <= 64) return f.template operator()<64>();
  return f.template operator()<largest_head>();
}

}  // namespace

cudaError_t attention(cudaStream_t stream, const Heads& out, Tensor lse, const Heads& q, const Heads& k,
                      const Heads& v, const AttentionOptions& options) {
  const Attention a(q, k, v, options);
  return with_columns(q.size, [&]<int size>() {
    constexpr int queries = size <= 64 ? 64 : 32, keys = 32;
    return launch_tiles(stream, q, queries, attention_kernel<size, queries, keys>, a, HeadsView(out),
                        elements<float>(lse));
  });
}

cudaError_t attention_backward(cudaStream_t stream, const RowOps::AttentionGrads& grads,
                               const Heads& grad_out, const Heads& out, const Tensor& lse, const Heads& q,
                               const Heads& k, const Heads& v, const AttentionOptions& options,
                               Tensor totals) {
  const Attention a(q, k, v, options);
  const HeadsView g(grad_out), o(out);
  float* const total = elements<float>(totals);
  cudaError_t status = each(stream, totals.numel(), [=] __device__(std::int64_t i) {
    const std::int64_t b = i / o.time / o.count, h = i / o.time % o.count, query = i % o.time;
    const float *const left = g.head(b, h)[query], *const right = o.head(b, h)[query];
    double sum = 0;
    for (int d = 0; d < o.size; ++d) sum += left[d] * right[d];
    total[i] = static_cast<float>(sum);
  });
  if (status != cudaSuccess) return status;
  const Backward of{g, elements<float>(lse), total};
  return with_columns(q.size, [&]<int size>() {
    constexpr int tile = size <= 64 ? 32 : 16;
    status = launch_tiles(stream, k, tile, key_gradients_kernel<size, tile>, a, of, HeadsView(grads.k),
                          HeadsView(grads.v));
    if (status != cudaSuccess) return status;
    return launch_tiles(stream, q, tile, query_gradients_kernel<size, tile>, a, of, HeadsView(grads.q));
  });
}

}  // namespace dist::nn::cuda_kernels
