// Batch normalisation. Sums are double, whatever the elements are.
#include <cmath>

#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

// Runs f(first element) for each picture's part of a channel.
template <class F>
void for_each_part(const Channels& c, std::int64_t channel, const F& f) {
  for (std::int64_t n = 0; n < c.batch; ++n) f((n * c.channels + channel) * c.inner);
}

struct Moments {
  double mean, variance;  // biased: divided by the number of values
};

template <class T>
Moments moments_of(const T* in, const Channels& c, std::int64_t channel) {
  const auto count = static_cast<double>(c.batch * c.inner);
  double total = 0, squares = 0;
  for_each_part(c, channel, [&](std::int64_t at) {
    total += sum_of(c.inner, [from = in + at](std::int64_t i) { return double{from[i]}; });
  });
  const double mean = total / count;
  for_each_part(c, channel, [&](std::int64_t at) {
    squares += sum_of(c.inner,
                      [from = in + at, mean](std::int64_t i) { return (from[i] - mean) * (from[i] - mean); });
  });
  return {mean, squares / count};
}

}  // namespace

void PlainOps::batch_norm(Tensor out, const Tensor& in, NormTensors norm, const NormOptions& options) const {
  const Channels c(in);
  const auto count = static_cast<double>(c.batch * c.inner);
  visit_float(in.dtype(), [&]<class T>() {
    T *const running_mean = elements<T>(norm.running_mean), *const running_var =
                                                                elements<T>(norm.running_var);
    const auto takes_up = [&](T& running, double seen) {
      running = static_cast<T>((1 - options.momentum) * running + options.momentum * seen);
    };
    for (std::int64_t k = 0; k < c.channels; ++k) {
      Moments moments{running_mean[k], running_var[k]};
      if (options.training) {
        moments = moments_of(elements<T>(in), c, k);
        takes_up(running_mean[k], moments.mean);
        takes_up(running_var[k], moments.variance * count / (count - 1));
      }
      const double invstd = 1 / std::sqrt(moments.variance + options.eps);
      elements<T>(norm.mean)[k] = static_cast<T>(moments.mean);
      elements<T>(norm.invstd)[k] = static_cast<T>(invstd);
      const double factor = invstd * elements<T>(norm.weight)[k];
      const auto scale = static_cast<T>(factor),
                 shift = static_cast<T>(elements<T>(norm.bias)[k] - moments.mean * factor);
      for_each_part(c, k, [&](std::int64_t at) {
        for_each_element(c.inner, [scale, shift, to = elements<T>(out) + at, from = elements<T>(in) + at](
                                      std::int64_t i) { to[i] = from[i] * scale + shift; });
      });
    }
  });
}

// With g the gradient of the output and x^ the normalised input, over the N values of a channel:
//   grad_bias += sum g;  grad_weight += sum g x^;  grad_in = weight invstd (g - sum g / N - x^ sum(g x^) / N)
// Constants have no such sums: in evaluation grad_in = weight invstd g.
void PlainOps::batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in,
                                   const NormTensors& norm, bool training) const {
  const Channels c(in);
  const auto count = static_cast<double>(c.batch * c.inner);
  visit_float(in.dtype(), [&]<class T>() {
    for (std::int64_t k = 0; k < c.channels; ++k) {
      const double mean = elements<T>(norm.mean)[k], invstd = elements<T>(norm.invstd)[k];
      double of_g = 0, of_g_x = 0;
      for_each_part(c, k, [&](std::int64_t at) {
        const T *const g = elements<T>(grad_out) + at, *const x = elements<T>(in) + at;
        of_g += sum_of(c.inner, [g](std::int64_t i) { return double{g[i]}; });
        of_g_x += sum_of(c.inner, [g, x, mean](std::int64_t i) { return g[i] * (x[i] - mean); });
      });
      of_g_x *= invstd;
      elements<T>(grads.bias)[k] += static_cast<T>(of_g);
      elements<T>(grads.weight)[k] += static_cast<T>(of_g_x);

      // grad_in = a g + b x + d
      const double factor = elements<T>(norm.weight)[k] * invstd;
      const double slope = training ? -factor * invstd * of_g_x / count : 0;
      const double level = training ? -factor * of_g / count - slope * mean : 0;
      const auto a = static_cast<T>(factor), b = static_cast<T>(slope), d = static_cast<T>(level);
      for_each_part(c, k, [&](std::int64_t at) {
        for_each_element(c.inner,
                         [a, b, d, to = elements<T>(grads.in) + at, g = elements<T>(grad_out) + at,
                          x = elements<T>(in) + at](std::int64_t i) { to[i] = a * g[i] + b * x[i] + d; });
      });
    }
  });
}

}  // namespace dist::nn
