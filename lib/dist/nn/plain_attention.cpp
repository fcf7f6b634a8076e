// Attention on the CPU: for each head and each block of queries a tile of scores, which backward computes
// again (Dao et al. 2022, FlashAttention: nothing quadratic is kept). Keys that a causal block cannot see are
// not computed. A thread takes whole heads of keys, with all queries that see them. bf16 is computed as f32.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"
#include "dist/nn/row_functors.h"

namespace dist::nn {

namespace {

constexpr std::int64_t block_rows = 64;

template <class T>
T* at(const Heads& heads, std::int64_t b, std::int64_t row, std::int64_t h) {
  return elements<T>(heads.of) + (b * heads.time() + row) * heads.width() + heads.first + h * heads.size;
}

}  // namespace

// One tile: queries [row, row + rows) of head h of sample b, against the first `keys` keys.
struct PlainAttention {
  const PlainOps& ops;
  const Heads &q, &k, &v;
  const AttentionOptions& options;
  std::int64_t b = 0, h = 0, row = 0, rows = 0, keys = 0;

  std::int64_t kv_head() const { return h / (q.count / k.count); }
  // How many keys query i of the tile sees.
  std::int64_t visible(std::int64_t i) const {
    if (!options.causal) return k.time();
    return std::clamp<std::int64_t>(options.first_query + row + i + 1 - options.first_key, 0, k.time());
  }
  // The number of a probability among those that dropout draws for.
  std::int64_t number(std::int64_t i) const { return ((b * q.count + h) * q.time() + row + i) * k.time(); }

  // scores [rows, keys] = scale q k^T
  template <class T>
  void score(T* scores) const {
    product(scores, keys, at<T>(q, b, row, h), q.width(), at<T>(k, b, 0, kv_head()), k.width());
    for_each_element(rows * keys,
                     [scores, scale = static_cast<T>(options.scale)](std::int64_t i) { scores[i] *= scale; });
  }
  // to [rows, keys] = left [rows, size] right [keys, size]^T
  template <class T>
  void product(T* to, std::int64_t to_row, const T* left, std::int64_t left_row, const T* right,
               std::int64_t right_row) const {
    ops.gemm({.m = rows,
              .n = keys,
              .k = q.size,
              .a_row = left_row,
              .b_row = right_row,
              .c_row = to_row,
              .b_transposed = true},
             left, right, to);
  }

  // Calls f(tile, scores, gradients) for every tile, on several threads; `scores` and `gradients` have memory
  // for a tile's.
  template <class F>
  void each(const F& f) const {
    visit_computed(q.of.dtype(), [&]<class T>() { each_of<T>(f); });
  }
  template <class T, class F>
  void each_of(const F& f) const {
    const std::int64_t group = q.count / k.count, tile_elements = std::min(block_rows, q.time()) * k.time();
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> memory(static_cast<std::size_t>(2 * tile_elements));
      PlainAttention tile = *this;
      for (std::int64_t i = begin * group; i < end * group; ++i) {
        tile.b = i / q.count;
        tile.h = i % q.count;
        for (tile.row = 0; tile.row < q.time(); tile.row += block_rows) {
          tile.rows = std::min(block_rows, q.time() - tile.row);
          tile.keys = tile.visible(tile.rows - 1);
          f(tile, memory.data(), memory.data() + tile_elements);
        }
      }
    };
    for_each_row_run(k.batch() * k.count, group * q.time() * k.time(), run);
  }
};

namespace {

// Converts heads in bf16 to f32, and back. Several heads may be in one tensor, which is converted once.
class InF32 {
 public:
  Heads operator()(const Heads& heads) {
    for (const auto& [own, f32] : tensors_)
      if (own.raw() == heads.of.raw() && own.shape() == heads.of.shape())
        return {f32, heads.first, heads.count, heads.size};
    tensors_.push_back({heads.of, heads.of.to(DType::f32)});
    return {tensors_.back().second, heads.first, heads.count, heads.size};
  }
  void round_all() {
    for (auto& [own, f32] : tensors_) own.copy_(f32);
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> tensors_;
};

}  // namespace

void PlainOps::attention(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                         const AttentionOptions& options) const {
  if (q.of.dtype() == DType::bf16) {
    InF32 read, written;
    attention(written(out), lse, read(q), read(k), read(v), options);
    return written.round_all();
  }
  PlainAttention{*this, q, k, v, options}.each([&]<class T>(const PlainAttention& tile, T* scores, T*) {
    const functors::Drop<T> drop(options.dropout);
    tile.score(scores);
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      T* const p = scores + i * tile.keys;
      const std::int64_t seen = tile.visible(i);
      T& log_sum = elements<T>(lse)[(tile.b * q.count + tile.h) * q.time() + tile.row + i];
      log_sum = -std::numeric_limits<T>::infinity();
      std::fill(p + seen, p + tile.keys, T(0));
      if (seen == 0) continue;
      const T largest = *std::max_element(p, p + seen);
      for_each_element(seen, [p, largest](std::int64_t j) { p[j] = functors::exponential(p[j] - largest); });
      const double total = sum_of(seen, [p](std::int64_t j) -> double { return p[j]; });
      log_sum = largest + static_cast<T>(std::log(total));
      for_each_element(seen, [p, factor = static_cast<T>(1 / total)](std::int64_t j) { p[j] *= factor; });
      if (options.dropout.p > 0)
        for (std::int64_t j = 0; j < seen; ++j) p[j] *= drop(tile.number(i) + j);
    }
    gemm({.m = tile.rows,
          .n = v.size,
          .k = tile.keys,
          .a_row = tile.keys,
          .b_row = v.width(),
          .c_row = out.width()},
         scores, at<T>(v, tile.b, 0, tile.kv_head()), at<T>(out, tile.b, tile.row, tile.h));
  });
}

// With P the probabilities, D what dropout multiplies them by, and g the gradient of the output:
//   grad_v = (P D)^T g;  grad_s = P (D (g v^T) - sum(g out)) scale;  grad_q = grad_s k;  grad_k = grad_s^T q
void PlainOps::attention_backward(AttentionGrads grads, const Heads& grad_out, const Heads& out,
                                  const Tensor& lse, const Heads& q, const Heads& k, const Heads& v,
                                  const AttentionOptions& options) const {
  if (q.of.dtype() == DType::bf16) {
    InF32 read, written;
    attention_backward({written(grads.q), written(grads.k), written(grads.v)}, read(grad_out), read(out), lse,
                       read(q), read(k), read(v), options);
    return written.round_all();
  }
  PlainAttention{*this, q, k, v, options}.each([&]<class T>(const PlainAttention& tile, T* probabilities,
                                                            T* of_scores) {
    if (tile.keys == 0) return;
    const functors::Drop<T> drop(options.dropout);
    const T* const g = at<T>(grad_out, tile.b, tile.row, tile.h);
    tile.score(probabilities);
    tile.product(of_scores, tile.keys, g, grad_out.width(), at<T>(v, tile.b, 0, tile.kv_head()), v.width());
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      T *const p = probabilities + i * tile.keys, *const s = of_scores + i * tile.keys;
      const std::int64_t seen = tile.visible(i);
      const T log_sum = elements<T>(lse)[(tile.b * q.count + tile.h) * q.time() + tile.row + i];
      const auto total =
          static_cast<T>(sum_of(q.size,
                                [gi = g + i * grad_out.width(), o = at<T>(out, tile.b, tile.row + i, tile.h)](
                                    std::int64_t d) -> double { return gi[d] * o[d]; }));
      for_each_element(seen, [p, log_sum](std::int64_t j) { p[j] = functors::exponential(p[j] - log_sum); });
      if (options.dropout.p > 0) {
        for (std::int64_t j = 0; j < seen; ++j) {
          const T factor = drop(tile.number(i) + j);
          s[j] = p[j] * (factor * s[j] - total);
          p[j] *= factor;
        }
      } else {
        for_each_element(seen, [p, s, total](std::int64_t j) { s[j] = p[j] * (s[j] - total); });
      }
      for_each_element(seen, [s, scale = static_cast<T>(options.scale)](std::int64_t j) { s[j] *= scale; });
      std::fill(p + seen, p + tile.keys, T(0));
      std::fill(s + seen, s + tile.keys, T(0));
    }
    const std::int64_t kv = tile.kv_head();
    gemm({.m = tile.keys,
          .n = v.size,
          .k = tile.rows,
          .a_row = tile.keys,
          .b_row = grad_out.width(),
          .c_row = grads.v.width(),
          .a_transposed = true,
          .adds = true},
         probabilities, g, at<T>(grads.v, tile.b, 0, kv));
    gemm({.m = tile.rows,
          .n = q.size,
          .k = tile.keys,
          .a_row = tile.keys,
          .b_row = k.width(),
          .c_row = grads.q.width(),
          .adds = true},
         of_scores, at<T>(k, tile.b, 0, kv), at<T>(grads.q, tile.b, tile.row, tile.h));
    gemm({.m = tile.keys,
          .n = q.size,
          .k = tile.rows,
          .a_row = tile.keys,
          .b_row = q.width(),
          .c_row = grads.k.width(),
          .a_transposed = true,
          .adds = true},
         of_scores, at<T>(q, tile.b, tile.row, tile.h), at<T>(grads.k, tile.b, 0, kv));
  });
}

void PlainOps::merge_attention(Tensor out, Tensor lse, const Tensor& part, const Tensor& part_lse,
                               std::int64_t first) const {
  if (part.numel() == 0) return;
  visit_float(part.dtype(), [&]<class T>() {
    const functors::MergeAttention<T> merging(out, lse, part, part_lse, first);
    for_each_row(merging.rows, merging.size, [&](std::int64_t i) {
      const auto row = merging.row(i);
      for_each_element(merging.size, [row](std::int64_t d) { functors::MergeAttention<T>::merge(row, d); });
      *row.lse = row.merged.log_sum;
    });
  });
}

}  // namespace dist::nn
