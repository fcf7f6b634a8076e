// The kernels behind kernels.h: element by element, or with one block of threads per channel, whose sums are
// in f64 (each.cuh). The arithmetic is in functors.h.
#include "dist/nn/cuda/each.cuh"
#include "dist/nn/cuda/kernels.h"
#include "dist/nn/functors.h"

namespace dist::nn::cuda_kernels {

namespace {

// The sum of f(i) over all values i of a channel, by one block.
template <class F>
__device__ double channel_sum(const Channels& c, std::int64_t channel, const F& f) {
  return block_sum(c.batch * c.inner, [&](std::int64_t i) -> double {
    return f((i / c.inner * c.channels + channel) * c.inner + i % c.inner);
  });
}

template <class T>
cudaError_t add_channels_of(cudaStream_t stream, Tensor out, const Tensor& of_channels) {
  const Channels c(out);
  T* const to = elements<T>(out);
  const T* const from = elements<T>(of_channels);
  return each(stream, out.numel(),
              [=] __device__(std::int64_t i) { accumulate(to[i], from[i / c.inner % c.channels]); });
}

template <class T>
cudaError_t add_channel_sums_of(cudaStream_t stream, Tensor of_channels, const Tensor& in) {
  T* const to = elements<T>(of_channels);
  const T* const from = elements<T>(in);
  const Channels c(in);
  return each_block(stream, c.channels, [=] __device__(std::int64_t k) {
    const double total = channel_sum(c, k, [=](std::int64_t i) -> double { return from[i]; });
    if (threadIdx.x == 0) accumulate(to[k], total);
  });
}

template <class T>
cudaError_t relu_of(cudaStream_t stream, Tensor out, const Tensor& in, const Tensor& deciding) {
  T* const to = elements<T>(out);
  const T *const from = elements<T>(in), *const by = elements<T>(deciding);
  return each(stream, out.numel(),
              [=] __device__(std::int64_t i) { to[i] = functors::Relu{}(from[i], by[i]); });
}

template <class T>
cudaError_t max_pool_of(cudaStream_t stream, Tensor out, Tensor winners, const Tensor& in,
                        const Windows& windows) {
  const std::int64_t height = in.size(2), width = in.size(3), lines = out.size(2), count = out.size(3);
  T* const best = elements<T>(out);
  auto* const places = elements<std::int32_t>(winners);
  const T* const from = elements<T>(in);
  return each(stream, out.numel(), [=] __device__(std::int64_t i) {
    const std::int64_t plane = i / (lines * count),
                       corner = (i / count % lines * width + i % count) * windows.stride;
    const T* const pixels = from + plane * height * width;
    std::int64_t place = corner;
    for (std::int64_t y = 0; y < windows.kernel; ++y) {
      for (std::int64_t x = 0; x < windows.kernel; ++x) {
        const std::int64_t at = corner + y * width + x;
        if (pixels[at] > pixels[place] || is_nan(pixels[at])) place = at;
      }
    }
    best[i] = pixels[place];
    places[i] = static_cast<std::int32_t>(place);
  });
}

template <class T>
cudaError_t batch_norm_of(cudaStream_t stream, Tensor out, const Tensor& in, const NormTensors& norm,
                          const NormOptions& options, Tensor lines) {
  const functors::NormForward<T> of_channel(norm, options);
  const T* const x = elements<T>(in);
  T* const y = elements<T>(out);
  auto* const line = reinterpret_cast<functors::Line*>(elements<double>(lines));
  const Channels c(in);
  const cudaError_t status = each_block(stream, c.channels, [=] __device__(std::int64_t k) {
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
    const functors::Line of = line[i / c.inner % c.channels];
    y[i] = static_cast<T>(static_cast<float>(of.slope) * x[i] + static_cast<float>(of.level));
  });
}

template <class T>
cudaError_t batch_norm_backward_of(cudaStream_t stream, const Ops::NormGrads& grads, const Tensor& grad_out,
                                   const Tensor& in, const NormTensors& norm, bool training, Tensor planes) {
  const functors::NormBackward<T> of_channel(norm, grads, training);
  const T *const x = elements<T>(in), *const g = elements<T>(grad_out);
  T* const to = elements<T>(grads.in);
  auto* const plane = reinterpret_cast<functors::Plane*>(elements<double>(planes));
  const Channels c(in);
  const cudaError_t status = each_block(stream, c.channels, [=] __device__(std::int64_t k) {
    const double mean = of_channel.mean[k];
    const double of_g = channel_sum(c, k, [=](std::int64_t i) -> double { return g[i]; });
    const double of_g_x = channel_sum(c, k, [=](std::int64_t i) { return g[i] * (x[i] - mean); });
    if (threadIdx.x == 0) plane[k] = of_channel(k, of_g, of_g_x, static_cast<double>(c.batch * c.inner));
  });
  if (status != cudaSuccess) return status;
  return each(stream, in.numel(), [=] __device__(std::int64_t i) {
    const functors::Plane of = plane[i / c.inner % c.channels];
    to[i] = static_cast<T>(static_cast<float>(of.of_grad) * g[i] + static_cast<float>(of.of_input) * x[i] +
                           static_cast<float>(of.level));
  });
}

}  // namespace

cudaError_t add_channels(cudaStream_t stream, Tensor out, const Tensor& of_channels) {
  return visit_elements(out.dtype(), [&]<class T>() { return add_channels_of<T>(stream, out, of_channels); });
}

cudaError_t add_channel_sums(cudaStream_t stream, Tensor of_channels, const Tensor& in) {
  return visit_elements(in.dtype(),
                        [&]<class T>() { return add_channel_sums_of<T>(stream, of_channels, in); });
}

cudaError_t relu(cudaStream_t stream, Tensor out, const Tensor& in, const Tensor& deciding) {
  return visit_elements(out.dtype(), [&]<class T>() { return relu_of<T>(stream, out, in, deciding); });
}

cudaError_t max_pool(cudaStream_t stream, Tensor out, Tensor winners, const Tensor& in,
                     const Windows& windows) {
  return visit_elements(in.dtype(),
                        [&]<class T>() { return max_pool_of<T>(stream, out, winners, in, windows); });
}

cudaError_t batch_norm(cudaStream_t stream, Tensor out, const Tensor& in, const NormTensors& norm,
                       const NormOptions& options, Tensor lines) {
  return visit_elements(in.dtype(),
                        [&]<class T>() { return batch_norm_of<T>(stream, out, in, norm, options, lines); });
}

cudaError_t batch_norm_backward(cudaStream_t stream, const Ops::NormGrads& grads, const Tensor& grad_out,
                                const Tensor& in, const NormTensors& norm, bool training, Tensor planes) {
  return visit_elements(in.dtype(), [&]<class T>() {
    return batch_norm_backward_of<T>(stream, grads, grad_out, in, norm, training, planes);
  });
}

// The additions are atomic, as windows may overlap.
cudaError_t max_pool_backward(cudaStream_t stream, Tensor grad_in, const Tensor& grad_out,
                              const Tensor& winners) {
  const std::int64_t pixels = grad_in.size(2) * grad_in.size(3), count = grad_out.size(2) * grad_out.size(3);
  float* const to = elements<float>(grad_in);
  const float* const from = elements<float>(grad_out);
  const auto* const places = elements<std::int32_t>(winners);
  return each(stream, grad_out.numel(),
              [=] __device__(std::int64_t i) { atomicAdd(to + i / count * pixels + places[i], from[i]); });
}

}  // namespace dist::nn::cuda_kernels
