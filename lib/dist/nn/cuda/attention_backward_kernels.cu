// The backward of attention on a GPU. It computes the scores again, twice: a block of threads per tile of
// keys for the gradients of k and v, and a block per tile of queries for that of q, so no block adds to what
// another one adds to.
#include "dist/nn/cuda/attention.cuh"
#include "dist/nn/cuda/row_kernels.h"

namespace dist::nn::cuda_kernels {

namespace {

// What backward gets besides the forward's arguments.
template <class T>
struct Backward {
  HeadsView<T> grad_out;
  const float *lse, *totals;
};

template <int size, int tile>
struct Tiles {
  Tile<tile, size> q, g, k, v;  // g: the gradient of the output
  Tile<tile, tile> ds, p;       // the gradients of the scores, and the probabilities after dropout
};

// ds and p for a tile of queries and a tile of keys. The formulas are in plain_attention.cpp.
template <class T, int size, int tile>
__device__ void score_gradients(const Attention<T>& a, const Backward<T>& of, const Work& queries,
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

template <class T, int size, int tile>
__global__ void key_gradients_kernel(Attention<T> a, Backward<T> of, HeadsView<T> grad_k,
                                     HeadsView<T> grad_v) {
  __shared__ Tiles<size, tile> t;
  const Work work(a.k.count, a.batch, tile, false);
  load(t.k, a.k.head(work.b, work.h), work.begin);
  load(t.v, a.v.head(work.b, work.h), work.begin);
  Part<tile, size> of_k{}, of_v{};
  Work queries = work;
  for (queries.h = work.h * a.group(); queries.h < (work.h + 1) * a.group(); ++queries.h) {
    const MatrixRows<T> q_rows = a.q.head(work.b, queries.h), g_rows = of.grad_out.head(work.b, queries.h);
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

template <class T, int size, int tile>
__global__ void query_gradients_kernel(Attention<T> a, Backward<T> of, HeadsView<T> grad_q) {
  __shared__ Tiles<size, tile> t;
  const Work work(a.q.count, a.batch, tile, true);
  const MatrixRows<T> k_rows = a.k.head(work.b, work.h / a.group()),
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

template <class T>
cudaError_t attention_backward_of(cudaStream_t stream, const RowOps::AttentionGrads& grads,
                                  const Heads& grad_out, const Heads& out, const Tensor& lse, const Heads& q,
                                  const Heads& k, const Heads& v, const AttentionOptions& options,
                                  const Tensor& totals) {
  const Attention<T> a(q, k, v, options);
  const HeadsView<T> g(grad_out), o(out);
  float* const total = elements<float>(totals);
  cudaError_t status = each(stream, totals.numel(), [=] __device__(std::int64_t i) {
    const std::int64_t b = i / o.time / o.count, h = i / o.time % o.count, query = i % o.time;
    const T *const left = g.head(b, h)[query], *const right = o.head(b, h)[query];
    double sum = 0;
    for (int d = 0; d < o.size; ++d) sum += left[d] * right[d];
    total[i] = static_cast<float>(sum);
  });
  if (status != cudaSuccess) return status;
  const Backward<T> of{g, elements<float>(lse), total};
  return with_columns(q.size, [&]<int size>() {
    constexpr int tile = size <= 64 ? 32 : 16;
    status = launch_tiles(stream, k, tile, key_gradients_kernel<T, size, tile>, a, of, HeadsView<T>(grads.k),
                          HeadsView<T>(grads.v));
    if (status != cudaSuccess) return status;
    return launch_tiles(stream, q, tile, query_gradients_kernel<T, size, tile>, a, of, HeadsView<T>(grads.q));
  });
}

}  // namespace

cudaError_t attention_backward(cudaStream_t stream, const RowOps::AttentionGrads& grads,
                               const Heads& grad_out, const Heads& out, const Tensor& lse, const Heads& q,
                               const Heads& k, const Heads& v, const AttentionOptions& options,
                               Tensor totals) {
  return visit_elements(q.of.dtype(), [&]<class T>() {
    return attention_backward_of<T>(stream, grads, grad_out, out, lse, q, k, v, options, totals);
  });
}

}  // namespace dist::nn::cuda_kernels
