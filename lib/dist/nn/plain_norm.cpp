// Batch normalisation. Sums are in double, whatever the elements are.
#include "dist/nn/functors.h"
#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

// The sum of f(i) over all values i of a channel.
template <class F>
double channel_sum(const Channels& c, std::int64_t channel, const F& f) {
  double total = 0;
  for (std::int64_t n = 0; n < c.batch; ++n)
    total +=
        sum_of(c.inner, [f, at = (n * c.channels + channel) * c.inner](std::int64_t i) { return f(at + i); });
  return total;
}

// Calls f(i) for all of them.
template <class F>
void for_each_of_channel(const Channels& c, std::int64_t channel, const F& f) {
  for (std::int64_t n = 0; n < c.batch; ++n)
    for_each_element(c.inner, [f, at = (n * c.channels + channel) * c.inner](std::int64_t i) { f(at + i); });
}

}  // namespace

void PlainOps::batch_norm(Tensor out, const Tensor& in, NormTensors norm, const NormOptions& options) const {
  const Channels c(in);
  const auto count = static_cast<double>(c.batch * c.inner);
  visit_float(in.dtype(), [&]<class T>() {
    using C = ComputeType<T>;
    const functors::NormForward<T> of_channel(norm, options);
    const T* const x = elements<T>(in);
    T* const y = elements<T>(out);
    for_each_row(c.channels, c.batch * c.inner, [&](std::int64_t k) {
      double mean = 0, variance = 0;
      if (options.training) {
        mean = channel_sum(c, k, [x](std::int64_t i) -> double { return x[i]; }) / count;
        variance =
            channel_sum(c, k, [x, mean](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / count;
      }
      const auto line = of_channel(k, mean, variance, count);
      const auto slope = static_cast<C>(line.slope), level = static_cast<C>(line.level);
      for_each_of_channel(c, k, [=](std::int64_t i) { y[i] = static_cast<T>(slope * x[i] + level); });
    });
  });
}

void PlainOps::batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in,
                                   const NormTensors& norm, bool training) const {
  const Channels c(in);
  const auto count = static_cast<double>(c.batch * c.inner);
  visit_float(in.dtype(), [&]<class T>() {
    using C = ComputeType<T>;
    const functors::NormBackward<T> of_channel(norm, grads, training);
    const T *const x = elements<T>(in), *const g = elements<T>(grad_out);
    T* const to = elements<T>(grads.in);
    for_each_row(c.channels, c.batch * c.inner, [&](std::int64_t k) {
      const double mean = of_channel.mean[k];
      const double of_g = channel_sum(c, k, [g](std::int64_t i) -> double { return g[i]; });
      const double of_g_x = channel_sum(c, k, [g, x, mean](std::int64_t i) { return g[i] * (x[i] - mean); });
      const auto plane = of_channel(k, of_g, of_g_x, count);
      const auto a = static_cast<C>(plane.of_grad), b = static_cast<C>(plane.of_input),
                 d = static_cast<C>(plane.level);
      for_each_of_channel(c, k, [=](std::int64_t i) { to[i] = static_cast<T>(a * g[i] + b * x[i] + d); });
    });
  });
}

}  // namespace dist::nn
