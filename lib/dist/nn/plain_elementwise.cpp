#include <cmath>

#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

void PlainOps::add_channels(Tensor out, const Tensor& of_channels) const {
  const Channels c(out);
  visit_float(out.dtype(), [&]<class T>() {
    T* const to = elements<T>(out);
    const T* const from = elements<T>(of_channels);
    for (std::int64_t row = 0; c.inner == 1 && row < c.batch; ++row)
      for_each_element(c.channels,
                       [sums = to + row * c.channels, from](std::int64_t i) { sums[i] += from[i]; });
    for (std::int64_t row = 0; c.inner > 1 && row < c.batch * c.channels; ++row)
      for_each_element(
          c.inner, [sums = to + row * c.inner, x = from[row % c.channels]](std::int64_t i) { sums[i] += x; });
  });
}

// Sums in double: each is over as many as a batch of pictures has pixels.
void PlainOps::add_channel_sums(Tensor of_channels, const Tensor& in) const {
  const Channels c(in);
  visit_float(in.dtype(), [&]<class T>() {
    const T* const from = elements<T>(in);
    T* const to = elements<T>(of_channels);
    for (std::int64_t channel = 0; channel < c.channels; ++channel) {
      double total = 0;
      for (std::int64_t n = 0; n < c.batch; ++n)
        total += sum_of(
            c.inner,
            [row = from + (n * c.channels + channel) * c.inner](std::int64_t i) -> double { return row[i]; });
      to[channel] += static_cast<T>(total);
    }
  });
}

void PlainOps::relu(Tensor out, const Tensor& in) const {
  visit_float(out.dtype(), [&]<class T>() {
    // Not `x > 0 ? x : 0`: NaN stays.
    for_each_element(out.numel(), [to = elements<T>(out), from = elements<T>(in)](std::int64_t i) {
      to[i] = from[i] <= 0 ? 0 : from[i];
    });
  });
}

void PlainOps::relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const {
  visit_float(out.dtype(), [&]<class T>() {
    for_each_element(out.numel(),
                     [to = elements<T>(out), from = elements<T>(grad),
                      kept = elements<T>(result)](std::int64_t i) { to[i] = kept[i] <= 0 ? 0 : from[i]; });
  });
}

void PlainOps::sgd(Tensor value, const Tensor& grad, Tensor velocity, const SgdStep& step) const {
  visit_float(value.dtype(), [&]<class T>() {
    const auto lr = static_cast<T>(step.lr), momentum = static_cast<T>(step.momentum),
               decay = static_cast<T>(step.weight_decay);
    T* const x = elements<T>(value);
    const T* const g = elements<T>(grad);
    if (!velocity.is_defined())
      return for_each_element(value.numel(), [=](std::int64_t i) { x[i] -= lr * (g[i] + decay * x[i]); });
    for_each_element(value.numel(), [=, v = elements<T>(velocity)](std::int64_t i) {
      v[i] = momentum * v[i] + (g[i] + decay * x[i]);
      x[i] -= lr * v[i];
    });
  });
}

void PlainOps::adam(Tensor value, const Tensor& grad, Tensor m, Tensor v, const AdamStep& step) const {
  visit_float(value.dtype(), [&]<class T>() {
    const auto beta1 = static_cast<T>(step.beta1), beta2 = static_cast<T>(step.beta2),
               one = static_cast<T>(1);
    const auto size = static_cast<T>(step.lr / step.correction1), eps = static_cast<T>(step.eps),
               root = static_cast<T>(std::sqrt(step.correction2)), decay = static_cast<T>(step.weight_decay);
    for_each_element(value.numel(), [=, x = elements<T>(value), grads = elements<T>(grad),
                                     mean = elements<T>(m), square = elements<T>(v)](std::int64_t i) {
      const T g = grads[i] + decay * x[i];
      mean[i] = beta1 * mean[i] + (one - beta1) * g;
      square[i] = beta2 * square[i] + (one - beta2) * g * g;
      x[i] -= size * mean[i] / (std::sqrt(square[i]) / root + eps);
    });
  });
}

}  // namespace dist::nn
