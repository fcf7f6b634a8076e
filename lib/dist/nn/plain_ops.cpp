#include "dist/nn/plain_ops.h"

#include "dist/core/fail.h"
#include "dist/nn/loops.h"

namespace dist::nn {

namespace {

// Element [i, k] of a matrix lies at data[i * row + k * column].
struct Strides {
  std::int64_t row, column;
};

Strides strides_of(const Ops::Matrix& m) {
  const std::int64_t width = m.of.size(1);
  return m.transposed ? Strides{1, width} : Strides{width, 1};
}

// A matrix whose rows are contiguous.
Tensor untransposed(const Ops::Matrix& m) {
  if (!m.transposed) return m.of;
  const std::int64_t rows = m.of.size(1), columns = m.of.size(0);
  Tensor t = empty({rows, columns}, m.of.dtype());
  visit_float(t.dtype(), [&]<class T>() {
    const T* const from = elements<T>(m.of);
    T* const to = elements<T>(t);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) to[i * columns + j] = from[j * rows + i];
  });
  return t;
}

}  // namespace

// Row by row: out[i] += a[i, k] b[k], which runs along contiguous rows.
void PlainOps::matmul(Tensor out, Matrix a, Matrix b, bool adds) const {
  if (!adds) out.zero_();
  const Tensor rows = untransposed(b);
  const std::int64_t m = out.size(0), n = out.size(1), depth = rows.size(0);
  const Strides at = strides_of(a);
  visit_float(out.dtype(), [&]<class T>() {
    const T *const left = elements<T>(a.of), *const right = elements<T>(rows);
    T* const to = elements<T>(out);
    vectorised([=] {
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t k = 0; k < depth; ++k) {
          const T factor = left[i * at.row + k * at.column];
          const T* const from = right + k * n;
          T* const sum = to + i * n;
          const std::int64_t width = n;
          DIST_INDEPENDENT_ITERATIONS
          for (std::int64_t j = 0; j < width; ++j) sum[j] += factor * from[j];
        }
      }
    });
  });
}

void PlainOps::add_channels(Tensor out, const Tensor& of_channels) const {
  const Channels c(out);
  visit_float(out.dtype(), [&]<class T>() {
    T* const to = elements<T>(out);
    const T* const from = elements<T>(of_channels);
    if (c.inner == 1) {
      for (std::int64_t row = 0; row < c.batch; ++row)
        for_each_element(c.channels,
                         [sum = to + row * c.channels, from](std::int64_t i) { sum[i] += from[i]; });
    } else {
      for (std::int64_t row = 0; row < c.batch * c.channels; ++row)
        for_each_element(
            c.inner, [sum = to + row * c.inner, x = from[row % c.channels]](std::int64_t i) { sum[i] += x; });
    }
  });
}

// Sums in double: there are as many as batch and picture have pixels.
void PlainOps::add_channel_sums(Tensor of_channels, const Tensor& in) const {
  const Channels c(in);
  visit_float(in.dtype(), [&]<class T>() {
    const T* const from = elements<T>(in);
    for (std::int64_t channel = 0; channel < c.channels; ++channel) {
      double total = 0;
      for (std::int64_t n = 0; n < c.batch; ++n)
        total += sum_of(from + (n * c.channels + channel) * c.inner, c.inner);
      elements<T>(of_channels)[channel] += static_cast<T>(total);
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

const Ops& ops_for(Device device) {
  static const PlainOps plain;
  if (device.type != DeviceType::cpu)
    fail(Errc::unsupported, "layers on {}: this build has none", device.str());
  return plain;
}

}  // namespace dist::nn
