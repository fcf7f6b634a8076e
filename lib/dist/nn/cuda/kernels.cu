// The kernels behind kernels.h. each() runs a function per element, each_channel() one block of threads per
// channel, with sums over the block in f64; the arithmetic is in functors.h.
#include "dist/core/device/cuda/packs.cuh"
#include "dist/nn/cuda/kernels.h"
#include "dist/nn/functors.h"

namespace dist::nn::cuda_kernels {

namespace {

using dist::cuda_kernels::blocks_for;
using dist::cuda_kernels::first_index;
using dist::cuda_kernels::grid_stride;
using dist::cuda_kernels::threads_per_block;
using dist::cuda_kernels::try_launch;

template <class F>
__global__ void each_kernel(std::int64_t count, F f) {
  for (std::int64_t i = first_index(); i < count; i += grid_stride()) f(i);
}

// f(i) for every i below count.
template <class F>
cudaError_t each(cudaStream_t stream, std::int64_t count, F f) {
  if (count == 0) return cudaSuccess;
  return try_launch(blocks_for(count), stream, each_kernel<F>, count, f);
}

// The sum of `mine` over the block's threads, in all of them.
__device__ double block_sum(double mine) {
  __shared__ double sums[threads_per_block];
  __syncthreads();  // all threads have read the previous sum
  sums[threadIdx.x] = mine;
  for (int half = threads_per_block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  return sums[0];
}

// The sum of f(i) over all values i of a channel, by one block.
template <class F>
__device__ double channel_sum(const Channels& c, std::int64_t channel, F f) {
  double mine = 0;
  for (std::int64_t i = threadIdx.x; i < c.batch * c.inner; i += threads_per_block)
    mine += f((i / c.inner * c.channels + channel) * c.inner + i % c.inner);
  return block_sum(mine);
}

template <class F>
__global__ void each_channel_kernel(Channels c, F f) {
  f(c, blockIdx.x);
}

// Calls f(channels, k) for every channel k, with one block of threads per channel.
template <class F>
cudaError_t each_channel(cudaStream_t stream, const Channels& c, F f) {
  if (c.channels == 0) return cudaSuccess;
  return try_launch(static_cast<int>(c.channels), stream, each_channel_kernel<F>, c, f);
}

}  // namespace

cudaError_t add_channels(cudaStream_t stream, Tensor out, const Tensor& of_channels) {
  const Channels c(out);
  float* const to = elements<float>(out);
  const float* const from = elements<float>(of_channels);
  return each(stream, out.numel(),
              [=] __device__(std::int64_t i) { to[i] += from[i / c.inner % c.channels]; });
}

cudaError_t add_channel_sums(cudaStream_t stream, Tensor of_channels, const Tensor& in) {
  float* const to = elements<float>(of_channels);
  const float* const from = elements<float>(in);
  return each_channel(stream, Channels(in), [=] __device__(const Channels& c, std::int64_t k) {
    const double total = channel_sum(c, k, [=](std::int64_t i) -> double { return from[i]; });
    if (threadIdx.x == 0) to[k] += static_cast<float>(total);
  });
}

cudaError_t relu(cudaStream_t stream, Tensor out, const Tensor& in, const Tensor& deciding) {
  float* const to = elements<float>(out);
  const float *const from = elements<float>(in), *const by = elements<float>(deciding);
  return each(stream, out.numel(),
              [=] __device__(std::int64_t i) { to[i] = functors::Relu{}(from[i], by[i]); });
}

cudaError_t max_pool(cudaStream_t stream, Tensor out, Tensor winners, const Tensor& in,
                     const Windows& windows) {
  const std::int64_t height = in.size(2), width = in.size(3), lines = out.size(2), count = out.size(3);
  float* const best = elements<float>(out);
  auto* const places = elements<std::int32_t>(winners);
  const float* const from = elements<float>(in);
  return each(stream, out.numel(), [=] __device__(std::int64_t i) {
    const std::int64_t plane = i / (lines * count),
                       corner = (i / count % lines * width + i % count) * windows.stride;
    const float* const pixels = from + plane * height * width;
    std::int64_t place = corner;
    for (std::int64_t y = 0; y < windows.kernel; ++y) {
      for (std::int64_t x = 0; x < windows.kernel; ++x) {
        const std::int64_t at = corner + y * width + x;
        if (pixels[at] > pixels[place] || pixels[at] != pixels[at]) place = at;
      }
    }
    best[i] = pixels[place];
    places[i] = static_cast<std::int32_t>(place);
  });
}

// Windows may overlap, so the additions are atomic.
cudaError_t max_pool_backward(cudaStream_t stream, Tensor grad_in, const Tensor& grad_out,
                              const Tensor& winners) {
  const std::int64_t pixels = grad_in.size(2) * grad_in.size(3), count = grad_out.size(2) * grad_out.size(3);
  float* const to = elements<float>(grad_in);
  const float* const from = elements<float>(grad_out);
  const auto* const places = elements<std::int32_t>(winners);
  return each(stream, grad_out.numel(),
              [=] __device__(std::int64_t i) { atomicAdd(to + i / count * pixels + places[i], from[i]); });
}

cudaError_t batch_norm(cudaStream_t stream, Tensor out, const Tensor& in, const NormTensors& norm,
                       const NormOptions& options, Tensor lines) {
  const functors::NormForward<float> of_channel(norm, options);
  const float* const x = elements<float>(in);
  float* const y = elements<float>(out);
  auto* const line = reinterpret_cast<functors::Line*>(elements<double>(lines));
  const Channels channels(in);
  const cudaError_t status =
      each_channel(stream, channels, [=] __device__(const Channels& c, std::int64_t k) {
        const auto count = static_cast<double>(c.batch * c.inner);
        double mean = 0, variance = 0;
        if (of_channel.training) {
          mean = channel_sum(c, k, [=](std::int64_t i) -> double { return x[i]; }) / count;
          variance = channel_sum(c, k, [=](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / count;
        }
        if (threadIdx.x == 0) line[k] = of_channel(k, mean, variance, count);
      });
  if (status != cudaSuccess) return status;
  return each(stream, out.numel(), [=] __device__(std::int64_t i) {
    const functors::Line of = line[i / channels.inner % channels.channels];
    y[i] = static_cast<float>(of.slope) * x[i] + static_cast<float>(of.level);
  });
}

cudaError_t batch_norm_backward(cudaStream_t stream, const Ops::NormGrads& grads, const Tensor& grad_out,
                                const Tensor& in, const NormTensors& norm, bool training, Tensor planes) {
  const functors::NormBackward<float> of_channel(norm, grads, training);
  const float *const x = elements<float>(in), *const g = elements<float>(grad_out);
  float* const to = elements<float>(grads.in);
  auto* const plane = reinterpret_cast<functors::Plane*>(elements<double>(planes));
  const Channels channels(in);
  const cudaError_t status =
      each_channel(stream, channels, [=] __device__(const Channels& c, std::int64_t k) {
        const double mean = of_channel.mean[k];
        const double of_g = channel_sum(c, k, [=](std::int64_t i) -> double { return g[i]; });
        const double of_g_x = channel_sum(c, k, [=](std::int64_t i) { return g[i] * (x[i] - mean); });
        if (threadIdx.x == 0) plane[k] = of_channel(k, of_g, of_g_x, static_cast<double>(c.batch * c.inner));
      });
  if (status != cudaSuccess) return status;
  return each(stream, in.numel(), [=] __device__(std::int64_t i) {
    const functors::Plane of = plane[i / channels.inner % channels.channels];
    to[i] = static_cast<float>(of.of_grad) * g[i] + static_cast<float>(of.of_input) * x[i] +
            static_cast<float>(of.level);
  });
}

cudaError_t sgd(cudaStream_t stream, Tensor value, const Tensor& grad, Tensor velocity, const SgdStep& step) {
  const functors::SgdUpdate<float> update(step);
  float* const x = elements<float>(value);
  const float* const g = elements<float>(grad);
  if (!velocity.is_defined())
    return each(stream, value.numel(), [=] __device__(std::int64_t i) { update(x[i], g[i]); });
  float* const v = elements<float>(velocity);
  return each(stream, value.numel(), [=] __device__(std::int64_t i) { update(x[i], g[i], v[i]); });
}

cudaError_t adam(cudaStream_t stream, Tensor value, const Tensor& grad, Tensor m, Tensor v,
                 const AdamStep& step) {
  const functors::AdamUpdate<float> update(step);
  float *const x = elements<float>(value), *const mean = elements<float>(m),
               *const square = elements<float>(v);
  const float* const g = elements<float>(grad);
  return each(stream, value.numel(),
              [=] __device__(std::int64_t i) { update(x[i], g[i], mean[i], square[i]); });
}

}  // namespace dist::nn::cuda_kernels
