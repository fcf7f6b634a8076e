// Attention on a GPU (Dao et al. 2022, FlashAttention): scores exist only in tiles. A block of threads per
// tile of queries, which goes through the keys with a running maximum and sum (Milakov, Gimelshein 2018).
#include <limits>

#include "dist/nn/cuda/attention.cuh"
#include "dist/nn/cuda/row_kernels.h"

namespace dist::nn::cuda_kernels {

namespace {

template <class T, int size, int queries, int keys>
__global__ void attention_kernel(Attention<T> a, HeadsView<T> out, float* lse) {
  __shared__ Tile<queries, size> q;
  __shared__ Tile<keys, size> kv;  // the keys, then their values
  __shared__ Tile<queries, keys> p;
  const Work work(a.q.count, a.batch, queries, true);
  const MatrixRows<T> to = out.head(work.b, work.h), k_rows = a.k.head(work.b, work.h / a.group()),
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
      if (sums.column(j) < out.size)
        to[query][sums.column(j)] = static_cast<T>(sees_none ? 0.F : sums.of[i][j] / total);
  }
}

template <class T>
cudaError_t attention_of(cudaStream_t stream, const Heads& out, const Tensor& lse, const Heads& q,
                         const Heads& k, const Heads& v, const AttentionOptions& options) {
  const Attention<T> a(q, k, v, options);
  return with_columns(q.size, [&]<int size>() {
    constexpr int queries = size <= 64 ? 64 : 32, keys = 32;
    return launch_tiles(stream, q, queries, attention_kernel<T, size, queries, keys>, a, HeadsView<T>(out),
                        elements<float>(lse));
  });
}

}  // namespace

cudaError_t attention(cudaStream_t stream, const Heads& out, Tensor lse, const Heads& q, const Heads& k,
                      const Heads& v, const AttentionOptions& options) {
  return visit_elements(q.of.dtype(),
                        [&]<class T>() { return attention_of<T>(stream, out, lse, q, k, v, options); });
}

}  // namespace dist::nn::cuda_kernels
