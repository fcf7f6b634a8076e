// The kernels behind row_kernels.h, without attention: norms and cross entropy with one block of threads per
// row, whose sums are in f64; their sums over rows in parts; embedding; then what goes element by element.
#include <limits>

#include "dist/nn/cuda/each.cuh"
#include "dist/nn/cuda/row_kernels.h"
#include "dist/nn/elements.h"
#include "dist/nn/row_functors.h"

namespace dist::nn::cuda_kernels {

namespace {

// null for an undefined tensor
float* optional(const Tensor& t) { return t.is_defined() ? elements<float>(t) : nullptr; }

}  // namespace

cudaError_t row_norm(cudaStream_t stream, Tensor out, const Tensor& in, const RowNorm& norm, double eps) {
  const Rows rows(in);
  const float *const x = elements<float>(in), *const weight = elements<float>(norm.weight),
                     *const bias = optional(norm.bias);
  float *const y = elements<float>(out), *const means = optional(norm.mean),
               *const invstds = elements<float>(norm.invstd);
  return each_block(stream, rows.count, [=] __device__(std::int64_t r) {
    const float* const from = x + r * rows.width;
    float* const to = y + r * rows.width;
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
      to[i] = bias ? scaled + bias[i] : scaled;
    });
  });
}

namespace {

// The sums over rows are taken in parts, each by blocks of this many columns; a block has several lines of
// threads, which take turns with the part's rows.
constexpr int columns = 32, lines = threads_per_block / columns;

// parts[part][0][j] = the sum of grad_out x^, parts[part][1][j] = the sum of grad_out, over the part's rows
cudaError_t sum_parts(cudaStream_t stream, const Tensor& parts, const Tensor& grad_out, const Tensor& in,
                      const RowNorm& norm) {
  const Rows rows(in);
  const std::int64_t count = parts.size(0), groups = (rows.width + columns - 1) / columns;
  const float *const x = elements<float>(in), *const g = elements<float>(grad_out),
                     *const means = optional(norm.mean), *const invstds = elements<float>(norm.invstd);
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

}  // namespace

// A function of the rows alone: with another GPU the sums would otherwise have other bits.
std::int64_t row_parts(std::int64_t rows) { return std::clamp<std::int64_t>(rows / 64, 1, 64); }

// The formula is in plain_rows.cpp.
cudaError_t row_norm_backward(cudaStream_t stream, const RowNormGrads& grads, const Tensor& grad_out,
                              const Tensor& in, const RowNorm& norm, Tensor parts) {
  const Rows rows(in);
  const float *const x = elements<float>(in), *const g = elements<float>(grad_out),
                     *const weight = elements<float>(norm.weight), *const means = optional(norm.mean),
                     *const invstds = elements<float>(norm.invstd);
  float *const grad_in = elements<float>(grads.in), *const of_weight = elements<float>(grads.weight),
               *const of_bias = optional(grads.bias);
  cudaError_t status = each_block(stream, rows.count, [=] __device__(std::int64_t r) {
    const float *const from = x + r * rows.width, *const grad = g + r * rows.width;
    float* const to = grad_in + r * rows.width;
    const float centre = means ? means[r] : 0.F, factor = invstds[r];
    const double of_h_x = block_sum(rows.width, [=](std::int64_t i) -> double {
      return grad[i] * weight[i] * ((from[i] - centre) * factor);
    });
    const double of_h =
        means ? block_sum(rows.width, [=](std::int64_t i) -> double { return grad[i] * weight[i]; }) : 0;
    const auto n = static_cast<double>(rows.width);
    const auto slope = static_cast<float>(of_h_x / n), level = static_cast<float>(of_h / n);
    each_of_block(rows.width, [=](std::int64_t i) {
      to[i] = factor * (grad[i] * weight[i] - level - (from[i] - centre) * factor * slope);
    });
  });
  if (status != cudaSuccess || rows.count == 0) return status;
  status = sum_parts(stream, parts, grad_out, in, norm);
  if (status != cudaSuccess) return status;
  const double* const sums = elements<double>(parts);
  const std::int64_t count = parts.size(0);
  return each(stream, rows.width, [=] __device__(std::int64_t j) {
    double w = 0, b = 0;
    for (std::int64_t part = 0; part < count; ++part) {
      w += sums[part * 2 * rows.width + j];
      b += sums[(part * 2 + 1) * rows.width + j];
    }
    of_weight[j] += static_cast<float>(w);
    if (of_bias) of_bias[j] += static_cast<float>(b);
  });
}

// Each thread reads back what it wrote itself.
cudaError_t cross_entropy(cudaStream_t stream, Tensor logits, Tensor losses, const Tensor& targets,
                          std::int64_t ignored, double factor) {
  const Rows rows(logits);
  float* const all = elements<float>(logits);
  double* const loss = elements<double>(losses);
  const auto* const target = elements<std::int64_t>(targets);
  return each_block(stream, rows.count, [=] __device__(std::int64_t r) {
    float* const x = all + r * rows.width;
    const std::int64_t right = target[r];
    if (right == ignored) {
      if (threadIdx.x == 0) loss[r] = 0;
      each_of_block(rows.width, [=](std::int64_t i) { x[i] = 0; });
      return;
    }
    const bool is_class = right >= 0 && right < rows.width;
    const float logit = is_class ? x[right] : std::numeric_limits<float>::quiet_NaN();
    const float largest =
        block_max(rows.width, -std::numeric_limits<float>::infinity(), [=](std::int64_t i) { return x[i]; });
    const double total = block_sum(
        rows.width, [=](std::int64_t i) -> double { return x[i] = functors::exponential(x[i] - largest); });
    if (threadIdx.x == 0) loss[r] = std::log(total) - static_cast<double>(logit - largest);
    const auto scale = static_cast<float>(factor / total), one = static_cast<float>(factor);
    each_of_block(rows.width, [=](std::int64_t i) {
      const float probability = x[i] * scale;
      x[i] = i == right ? probability - one : probability;
    });
  });
}

cudaError_t gather_rows(cudaStream_t stream, Tensor out, const Tensor& table, const Tensor& indices,
                        std::int64_t first) {
  const std::int64_t count = table.size(0), width = table.size(1);
  const auto* const index = elements<std::int64_t>(indices);
  const float* const from = elements<float>(table);
  float* const to = elements<float>(out);
  return each(stream, out.numel(), [=] __device__(std::int64_t i) {
    const std::int64_t row = index[i / width] - first;
    to[i] = row < 0 || row >= count ? 0.F : from[row * width + i % width];
  });
}

cudaError_t add_to_rows(cudaStream_t stream, Tensor table, const Tensor& grad, const Tensor& indices,
                        std::int64_t first) {
  const std::int64_t count = table.size(0), width = table.size(1), tokens = indices.numel();
  const auto* const index = elements<std::int64_t>(indices);
  const float* const from = elements<float>(grad);
  float* const to = elements<float>(table);
  return each_block(stream, tokens, [=] __device__(std::int64_t own) {
    __shared__ bool is_same[threads_per_block];
    const std::int64_t token = index[own], row = token - first;
    if (row < 0 || row >= count) return;
    for (std::int64_t begin = 0; begin < tokens; begin += threads_per_block) {
      const std::int64_t mine = begin + threadIdx.x;
      const bool same = mine < tokens && index[mine] == token;
      if (!__syncthreads_or(same)) continue;
      is_same[threadIdx.x] = same;
      __syncthreads();
      for (int k = 0; k < threads_per_block; ++k) {
        if (!is_same[k]) continue;
        if (begin + k < own) return;  // the block of that index adds this one's, too
        const float* const g = from + (begin + k) * width;
        each_of_block(width, [=](std::int64_t j) { to[row * width + j] += g[j]; });
      }
    }
  });
}

namespace {

template <class F>
cudaError_t activate_by(cudaStream_t stream, const F& f, const Tensor& out, const Tensor& in) {
  const float* const x = elements<float>(in);
  float* const y = elements<float>(out);
  return each(stream, in.numel(), [=] __device__(std::int64_t i) { y[i] = f(x[i]); });
}

template <class F>
cudaError_t activate_backward_by(cudaStream_t stream, const F& f, const Tensor& grad_in,
                                 const Tensor& grad_out, const Tensor& in) {
  const float *const x = elements<float>(in), *const g = elements<float>(grad_out);
  float* const to = elements<float>(grad_in);
  return each(stream, in.numel(), [=] __device__(std::int64_t i) { to[i] = g[i] * f.slope(x[i]); });
}

}  // namespace

cudaError_t activate(cudaStream_t stream, Tensor out, const Tensor& in, Activation activation) {
  return functors::with_activation<float>(activation,
                                          [&](const auto& f) { return activate_by(stream, f, out, in); });
}

cudaError_t activate_backward(cudaStream_t stream, Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                              Activation activation) {
  return functors::with_activation<float>(
      activation, [&](const auto& f) { return activate_backward_by(stream, f, grad_in, grad_out, in); });
}

cudaError_t dropout(cudaStream_t stream, Tensor out, const Tensor& in, const DropoutDraw& draw) {
  const functors::Drop<float> drop(draw);
  const float* const x = elements<float>(in);
  float* const y = elements<float>(out);
  return each(stream, in.numel(), [=] __device__(std::int64_t i) { y[i] = x[i] * drop(i); });
}

// A thread turns one pair of all heads at one position, as sine and cosine in f64 take longest.
cudaError_t rotate(cudaStream_t stream, const Heads& heads, std::int64_t first_position, double base,
                   int direction) {
  const std::int64_t size = heads.size, half = size / 2, count = heads.count, batch = heads.batch(),
                     time = heads.time(), width = heads.width();
  float* const first = elements<float>(heads.of) + heads.first;
  return each(stream, time * half, [=] __device__(std::int64_t i) {
    const std::int64_t t = i / half, d = i % half;
    const double angle = functors::rotary_angle(first_position + t, d, size, base);
    const auto cosine = static_cast<float>(std::cos(angle)),
               sine = static_cast<float>(direction * std::sin(angle));
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t h = 0; h < count; ++h) {
        float* const x = first + (b * time + t) * width + h * size + d;
        const float left = x[0], right = x[half];
        x[0] = left * cosine - right * sine;
        x[half] = right * cosine + left * sine;
      }
    }
  });
}

}  // namespace dist::nn::cuda_kernels
