// The kernels of LayerNorm and RMSNorm behind row_kernels.h: one block of threads per row, whose sums are in
// f64, and the sums over rows in parts.
#include <algorithm>
#include <cmath>

#include "dist/nn/cuda/each.cuh"
#include "dist/nn/cuda/row_kernels.h"
#include "dist/nn/elements.h"

namespace dist::nn::cuda_kernels {

namespace {

template <class T>
cudaError_t row_norm_of(cudaStream_t stream, const Tensor& out, const Tensor& in, const RowNorm& norm,
                        double eps) {
  const Rows rows(in);
  const T *const x = elements<T>(in), *const weight = elements<T>(norm.weight),
                 *const bias = elements_or_null<T>(norm.bias);
  T* const y = elements<T>(out);
  float *const means = elements_or_null<float>(norm.mean), *const invstds = elements<float>(norm.invstd);
  return each_block(stream, rows.count, [=] __device__(std::int64_t r) {
    const T* const from = x + r * rows.width;
    T* const to = y + r * rows.width;
    const auto n = static_cast<double>(rows.width);
    const double mean =
        means ? block_sum(rows.width, [=](std::int64_t i) -> double { return from[i]; }) / n : 0;
    const double square =
        block_sum(rows.width, [=](std::int64_t i) { return (from[i] - mean) * (from[i] - mean); });
    const double scale = 1 / std::sqrt(square / n + eps);
    const auto centre = static_cast<float>(mean), factor = static_cast<float>(scale);
    if (threadIdx.x == 0) {
      if (means) means[r] = centre;
      invstds[r] = factor;
    }
    each_of_block(rows.width, [=](std::int64_t i) {
      const float scaled = (from[i] - centre) * factor * weight[i];
      to[i] = static_cast<T>(bias ? scaled + bias[i] : scaled);
    });
  });
}

// The sums over rows are taken in parts, each by blocks of this many columns; a block has several lines of
// threads, which take turns with the part's rows.
constexpr int columns = 32, lines = threads_per_block / columns;

// parts[part][0][j] = the sum of grad_out x^, parts[part][1][j] = the sum of grad_out, over the part's rows
template <class T>
cudaError_t sum_parts(cudaStream_t stream, const Tensor& parts, const Tensor& grad_out, const Tensor& in,
                      const RowNorm& norm) {
  const Rows rows(in);
  const std::int64_t count = parts.size(0), groups = (rows.width + columns - 1) / columns;
  const T *const x = elements<T>(in), *const g = elements<T>(grad_out);
  const float *const means = elements_or_null<float>(norm.mean), *const invstds =
                                                                     elements<float>(norm.invstd);
  double* const to = elements<double>(parts);
  return each_block(stream, count * groups, [=] __device__(std::int64_t block) {
    __shared__ double of_lines[2][lines][columns];
    const std::int64_t part = block / groups, end = rows.count * (part + 1) / count;
    const int column = static_cast<int>(threadIdx.x) % columns,
              line = static_cast<int>(threadIdx.x) / columns;
    const std::int64_t j = block % groups * columns + column;
    double of_weight = 0, of_bias = 0;
    if (j < rows.width) {
      for (std::int64_t r = rows.count * part / count + line; r < end; r += lines) {
        const float grad = g[r * rows.width + j], centre = means ? means[r] : 0.F;
        of_weight += grad * ((x[r * rows.width + j] - centre) * invstds[r]);
        of_bias += grad;
      }
    }
    __syncthreads();  // the previous sums have been read
    of_lines[0][line][column] = of_weight;
    of_lines[1][line][column] = of_bias;
    __syncthreads();
    if (line >= 2 || j >= rows.width) return;
    double total = 0;
    for (int l = 0; l < lines; ++l) total += of_lines[line][l][column];
    to[(part * 2 + line) * rows.width + j] = total;
  });
}

// The formula is in plain_rows.cpp.
template <class T>
cudaError_t row_norm_backward_of(cudaStream_t stream, const RowNormGrads& grads, const Tensor& grad_out,
                                 const Tensor& in, const RowNorm& norm, const Tensor& parts) {
  const Rows rows(in);
  const T *const x = elements<T>(in), *const g = elements<T>(grad_out),
                 *const weight = elements<T>(norm.weight);
  const float *const means = elements_or_null<float>(norm.mean), *const invstds =
                                                                     elements<float>(norm.invstd);
  T *const grad_in = elements<T>(grads.in), *const of_weight = elements_or_null<T>(grads.weight),
           *const of_bias = elements_or_null<T>(grads.bias);
  cudaError_t status = each_block(stream, rows.count, [=] __device__(std::int64_t r) {
    const T *const from = x + r * rows.width, *const grad = g + r * rows.width;
    T* const to = grad_in + r * rows.width;
    const float centre = means ? means[r] : 0.F, factor = invstds[r];
    const double of_h_x = block_sum(rows.width, [=](std::int64_t i) -> double {
      return grad[i] * weight[i] * ((from[i] - centre) * factor);
    });
    const double of_h =
        means ? block_sum(rows.width, [=](std::int64_t i) -> double { return grad[i] * weight[i]; }) : 0;
    const auto n = static_cast<double>(rows.width);
    const auto slope = static_cast<float>(of_h_x / n), level = static_cast<float>(of_h / n);
    each_of_block(rows.width, [=](std::int64_t i) {
      to[i] = static_cast<T>(factor * (grad[i] * weight[i] - level - (from[i] - centre) * factor * slope));
    });
  });
  if (status != cudaSuccess || rows.count == 0 || (!of_weight && !of_bias)) return status;
  status = sum_parts<T>(stream, parts, grad_out, in, norm);
  if (status != cudaSuccess) return status;
  const double* const sums = elements<double>(parts);
  const std::int64_t count = parts.size(0);
  return each(stream, rows.width, [=] __device__(std::int64_t j) {
    double w = 0, b = 0;
    for (std::int64_t part = 0; part < count; ++part) {
      w += sums[part * 2 * rows.width + j];
      b += sums[(part * 2 + 1) * rows.width + j];
    }
    if (of_weight) accumulate(of_weight[j], w);
    if (of_bias) accumulate(of_bias[j], b);
  });
}

}  // namespace

cudaError_t row_norm(cudaStream_t stream, Tensor out, const Tensor& in, const RowNorm& norm, double eps) {
  return visit_elements(in.dtype(), [&]<class T>() { return row_norm_of<T>(stream, out, in, norm, eps); });
}

// A function of the rows alone: otherwise the sums on another GPU would have different bits.
std::int64_t row_parts(std::int64_t rows) { return std::clamp<std::int64_t>(rows / 64, 1, 64); }

cudaError_t row_norm_backward(cudaStream_t stream, const RowNormGrads& grads, const Tensor& grad_out,
                              const Tensor& in, const RowNorm& norm, Tensor parts) {
  return visit_elements(in.dtype(), [&]<class T>() {
    return row_norm_backward_of<T>(stream, grads, grad_out, in, norm, parts);
  });
}

}  // namespace dist::nn::cuda_kernels
