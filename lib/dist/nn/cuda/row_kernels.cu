// The kernels behind row_kernels.h, without norms and attention: cross entropy with one block of threads per
// row, whose sums are in f64; embedding; then what goes element by element.
#include <limits>

#include "dist/nn/cuda/each.cuh"
#include "dist/nn/cuda/row_kernels.h"
#include "dist/nn/elements.h"
#include "dist/nn/row_functors.h"

namespace dist::nn::cuda_kernels {

namespace {

template <class T>
cudaError_t cross_entropy_of(cudaStream_t stream, const Tensor& logits, const Tensor& losses,
                             const Tensor& targets, std::int64_t ignored, const Tensor& counted) {
  const Rows rows(logits);
  const double* const count = elements<double>(counted);
  T* const all = elements<T>(logits);
  double* const loss = elements<double>(losses);
  const auto* const target = elements<std::int64_t>(targets);
  return each_block(stream, rows.count, [=] __device__(std::int64_t r) {
    T* const x = all + r * rows.width;
    const std::int64_t right = target[r];
    if (right == ignored) {
      if (threadIdx.x == 0) loss[r] = 0;
      each_of_block(rows.width, [=](std::int64_t i) { x[i] = T(0.F); });
      return;
    }
    const bool is_class = right >= 0 && right < rows.width;
    const float logit = is_class ? static_cast<float>(x[right]) : std::numeric_limits<float>::quiet_NaN();
    const float largest =
        block_max(rows.width, -std::numeric_limits<float>::infinity(), [=](std::int64_t i) { return x[i]; });
    const double total = block_sum(
        rows.width, [=](std::int64_t i) -> double { return functors::exponential(x[i] - largest); });
    if (threadIdx.x == 0) loss[r] = std::log(total) - static_cast<double>(logit - largest);
    const double factor = functors::one_of(*count);
    const auto scale = static_cast<float>(factor / total), one = static_cast<float>(factor);
    each_of_block(rows.width, [=](std::int64_t i) {
      const float probability = functors::exponential(x[i] - largest) * scale;
      x[i] = static_cast<T>(i == right ? probability - one : probability);
    });
  });
}

template <class T>
cudaError_t gather_rows_of(cudaStream_t stream, const Tensor& out, const Tensor& table, const Tensor& indices,
                           std::int64_t first) {
  const std::int64_t count = table.size(0), width = table.size(1);
  const auto* const index = elements<std::int64_t>(indices);
  const T* const from = elements<T>(table);
  T* const to = elements<T>(out);
  return each(stream, out.numel(), [=] __device__(std::int64_t i) {
    const std::int64_t row = index[i / width] - first;
    to[i] = row < 0 || row >= count ? T(0.F) : from[row * width + i % width];
  });
}

// Each thread holds the sums of this many columns in registers; wider rows are passed several times.
constexpr int held = 4;

template <class T>
cudaError_t add_to_rows_of(cudaStream_t stream, const Tensor& table, const Tensor& grad,
                           const Tensor& indices, std::int64_t first) {
  const std::int64_t count = table.size(0), width = table.size(1), tokens = indices.numel();
  const auto* const index = elements<std::int64_t>(indices);
  const T* const from = elements<T>(grad);
  T* const to = elements<T>(table);
  return each_block(stream, tokens, [=] __device__(std::int64_t own) {
    __shared__ bool is_same[threads_per_block];
    const std::int64_t token = index[own], row = token - first;
    if (row < 0 || row >= count) return;
    for (std::int64_t left = 0; left < width; left += held * threads_per_block) {
      float sums[held] = {};
      const auto each_column = [&](const auto& f) {
#pragma unroll
        for (int h = 0; h < held; ++h) {
          const std::int64_t j = left + h * threads_per_block + threadIdx.x;
          if (j < width) f(sums[h], j);
        }
      };
      for (std::int64_t begin = 0; begin < tokens; begin += threads_per_block) {
        const std::int64_t mine = begin + threadIdx.x;
        const bool same = mine < tokens && index[mine] == token;
        if (!__syncthreads_or(same)) continue;
        is_same[threadIdx.x] = same;
        __syncthreads();
        for (int k = 0; k < threads_per_block; ++k) {
          if (!is_same[k]) continue;
          if (begin + k < own) return;  // the block of that index adds this one's, too
          if (begin + k == own) each_column([&](float& sum, std::int64_t j) { sum = to[row * width + j]; });
          const T* const g = from + (begin + k) * width;
          each_column([&](float& sum, std::int64_t j) { sum += g[j]; });
        }
      }
      each_column([&](float& sum, std::int64_t j) { to[row * width + j] = static_cast<T>(sum); });
    }
  });
}

template <class T, class F>
cudaError_t activate_by(cudaStream_t stream, const F& f, const Tensor& out, const Tensor& in) {
  const T* const x = elements<T>(in);
  T* const y = elements<T>(out);
  return each(stream, in.numel(), [=] __device__(std::int64_t i) { y[i] = static_cast<T>(f(x[i])); });
}

template <class T, class F>
cudaError_t activate_backward_by(cudaStream_t stream, const F& f, const Tensor& grad_in,
                                 const Tensor& grad_out, const Tensor& in) {
  const T *const x = elements<T>(in), *const g = elements<T>(grad_out);
  T* const to = elements<T>(grad_in);
  return each(stream, in.numel(),
              [=] __device__(std::int64_t i) { to[i] = static_cast<T>(g[i] * f.slope(x[i])); });
}

template <class T>
cudaError_t dropout_of(cudaStream_t stream, const Tensor& out, const Tensor& in, const DropoutDraw& draw) {
  const functors::Drop<float> drop(draw);
  const T* const x = elements<T>(in);
  T* const y = elements<T>(out);
  return each(stream, in.numel(),
              [=] __device__(std::int64_t i) { y[i] = static_cast<T>(x[i] * drop.on_device(i)); });
}

// A thread turns one pair of all heads at one position, as sine and cosine in f64 take longest.
template <class T>
cudaError_t rotate_of(cudaStream_t stream, const Heads& heads, std::int64_t first_position, double base,
                      int direction) {
  const std::int64_t size = heads.size, half = size / 2, count = heads.count, batch = heads.batch(),
                     time = heads.time(), width = heads.width();
  T* const first = elements<T>(heads.of) + heads.first;
  return each(stream, time * half, [=] __device__(std::int64_t i) {
    const std::int64_t t = i / half, d = i % half;
    const double angle = functors::rotary_angle(first_position + t, d, size, base);
    const auto cosine = static_cast<float>(std::cos(angle)),
               sine = static_cast<float>(direction * std::sin(angle));
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t h = 0; h < count; ++h) {
        T* const x = first + (b * time + t) * width + h * size + d;
        const float left = x[0], right = x[half];
        x[0] = static_cast<T>(left * cosine - right * sine);
        x[half] = static_cast<T>(right * cosine + left * sine);
      }
    }
  });
}

// The outputs by element, which read the logarithms; then these change.
template <class T>
cudaError_t merge_attention_of(cudaStream_t stream, const functors::MergeAttention<T>& merging) {
  const cudaError_t status = each(stream, merging.rows * merging.size, [=] __device__(std::int64_t i) {
    functors::MergeAttention<T>::merge(merging.row(i / merging.size), i % merging.size);
  });
  if (status != cudaSuccess) return status;
  return each(stream, merging.rows, [=] __device__(std::int64_t i) {
    const auto row = merging.row(i);
    *row.lse = row.merged.log_sum;
  });
}

}  // namespace

cudaError_t cross_entropy(cudaStream_t stream, Tensor logits, Tensor losses, const Tensor& targets,
                          std::int64_t ignored, const Tensor& count) {
  return visit_elements(logits.dtype(), [&]<class T>() {
    return cross_entropy_of<T>(stream, logits, losses, targets, ignored, count);
  });
}

cudaError_t count_targets(cudaStream_t stream, Tensor count, const Tensor& targets, std::int64_t ignored) {
  double* const to = elements<double>(count);
  const auto* const target = elements<std::int64_t>(targets);
  return each_block(stream, 1, [=, all = targets.numel()] __device__(std::int64_t) {
    const double total =
        block_sum(all, [=](std::int64_t i) -> double { return target[i] == ignored ? 0 : 1; });
    if (threadIdx.x == 0) *to = total;
  });
}

cudaError_t gather_rows(cudaStream_t stream, Tensor out, const Tensor& table, const Tensor& indices,
                        std::int64_t first) {
  return visit_elements(out.dtype(),
                        [&]<class T>() { return gather_rows_of<T>(stream, out, table, indices, first); });
}

cudaError_t add_to_rows(cudaStream_t stream, Tensor table, const Tensor& grad, const Tensor& indices,
                        std::int64_t first) {
  return visit_elements(grad.dtype(),
                        [&]<class T>() { return add_to_rows_of<T>(stream, table, grad, indices, first); });
}

cudaError_t activate(cudaStream_t stream, Tensor out, const Tensor& in, Activation activation) {
  return visit_elements(in.dtype(), [&]<class T>() {
    return functors::with_activation<float>(
        activation, [&](const auto& f) { return activate_by<T>(stream, f, out, in); });
  });
}

cudaError_t activate_backward(cudaStream_t stream, Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                              Activation activation) {
  return visit_elements(in.dtype(), [&]<class T>() {
    return functors::with_activation<float>(
        activation, [&](const auto& f) { return activate_backward_by<T>(stream, f, grad_in, grad_out, in); });
  });
}

cudaError_t dropout(cudaStream_t stream, Tensor out, const Tensor& in, const DropoutDraw& draw) {
  return visit_elements(in.dtype(), [&]<class T>() { return dropout_of<T>(stream, out, in, draw); });
}

cudaError_t rotate(cudaStream_t stream, const Heads& heads, std::int64_t first_position, double base,
                   int direction) {
  return visit_elements(heads.of.dtype(), [&]<class T>() {
    return rotate_of<T>(stream, heads, first_position, base, direction);
  });
}

cudaError_t merge_attention(cudaStream_t stream, Tensor out, Tensor lse, const Tensor& part,
                            const Tensor& part_lse, std::int64_t first) {
  if (part.numel() == 0) return cudaSuccess;
  return visit_elements(part.dtype(), [&]<class T>() {
    return merge_attention_of<T>(stream, {out, lse, part, part_lse, first});
  });
}

}  // namespace dist::nn::cuda_kernels
