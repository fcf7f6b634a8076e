// The plain loops of row_ops.h: normalisation, activation, embedding, dropout, cross entropy, rotary
// positions.
#include <algorithm>
#include <limits>
#include <vector>

#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"
#include "dist/nn/row_functors.h"

namespace dist::nn {

void PlainOps::row_norm(Tensor out, const Tensor& in, RowNorm norm, double eps) const {
  const Rows rows(in);
  visit_float(in.dtype(), [&]<class T>() {
    const T* const weight = elements<T>(norm.weight);
    const T* const bias = norm.bias.is_defined() ? elements<T>(norm.bias) : nullptr;
    const auto n = static_cast<double>(rows.width);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const T* const x = elements<T>(in) + r * rows.width;
      T* const y = elements<T>(out) + r * rows.width;
      double mean = 0;
      if (norm.mean.is_defined()) {
        mean = sum_of(rows.width, [x](std::int64_t i) -> double { return x[i]; }) / n;
        elements<T>(norm.mean)[r] = static_cast<T>(mean);
      }
      const double square =
          sum_of(rows.width, [x, mean](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); });
      const double scale = 1 / std::sqrt(square / n + eps);
      elements<T>(norm.invstd)[r] = static_cast<T>(scale);
      const auto centre = static_cast<T>(mean), factor = static_cast<T>(scale);
      if (bias)
        for_each_element(rows.width,
                         [=](std::int64_t i) { y[i] = (x[i] - centre) * factor * weight[i] + bias[i]; });
      else
        for_each_element(rows.width, [=](std::int64_t i) { y[i] = (x[i] - centre) * factor * weight[i]; });
    }
  });
}

// With x^ = (x - mean) invstd and h = grad_out weight, over the n elements of a row:
//   grad_in = invstd (h - sum(h) / n - x^ sum(h x^) / n), without the sum of h where there is no mean
void PlainOps::row_norm_backward(RowNormGrads grads, const Tensor& grad_out, const Tensor& in,
                                 const RowNorm& norm) const {
  const Rows rows(in);
  visit_float(in.dtype(), [&]<class T>() {
    const T* const weight = elements<T>(norm.weight);
    const auto n = static_cast<double>(rows.width);
    std::vector<double> of_weight(static_cast<std::size_t>(rows.width)), of_bias(of_weight);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const T *const x = elements<T>(in) + r * rows.width, *const g = elements<T>(grad_out) + r * rows.width;
      T* const to = elements<T>(grads.in) + r * rows.width;
      const T centre = norm.mean.is_defined() ? elements<T>(norm.mean)[r] : T(0);
      const T factor = elements<T>(norm.invstd)[r];
      const double of_h_x = sum_of(rows.width, [=](std::int64_t i) -> double {
        return g[i] * weight[i] * ((x[i] - centre) * factor);
      });
      const double of_h = norm.mean.is_defined()
                              ? sum_of(rows.width, [=](std::int64_t i) -> double { return g[i] * weight[i]; })
                              : 0;
      const auto slope = static_cast<T>(of_h_x / n), level = static_cast<T>(of_h / n);
      for_each_element(rows.width, [=](std::int64_t i) {
        to[i] = factor * (g[i] * weight[i] - level - (x[i] - centre) * factor * slope);
      });
      for_each_element(rows.width, [=, w = of_weight.data(), b = of_bias.data()](std::int64_t i) {
        w[i] += g[i] * ((x[i] - centre) * factor);
        b[i] += g[i];
      });
    }
    for_each_element(rows.width, [w = of_weight.data(), to = elements<T>(grads.weight)](std::int64_t i) {
      to[i] += static_cast<T>(w[i]);
    });
    if (grads.bias.is_defined())
      for_each_element(rows.width, [b = of_bias.data(), to = elements<T>(grads.bias)](std::int64_t i) {
        to[i] += static_cast<T>(b[i]);
      });
  });
}

void PlainOps::activate(Tensor out, const Tensor& in, Activation activation) const {
  visit_float(in.dtype(), [&]<class T>() {
    functors::with_activation<T>(activation, [&](const auto& f) {
      for_each_element(in.numel(),
                       [f, y = elements<T>(out), x = elements<T>(in)](std::int64_t i) { y[i] = f(x[i]); });
    });
  });
}

void PlainOps::activate_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                                 Activation activation) const {
  visit_float(in.dtype(), [&]<class T>() {
    functors::with_activation<T>(activation, [&](const auto& f) {
      for_each_element(in.numel(), [f, to = elements<T>(grad_in), g = elements<T>(grad_out),
                                    x = elements<T>(in)](std::int64_t i) { to[i] = g[i] * f.slope(x[i]); });
    });
  });
}

void PlainOps::gather_rows(Tensor out, const Tensor& table, const Tensor& indices, std::int64_t first) const {
  const std::int64_t width = table.size(1), rows = table.size(0);
  const auto* const index = elements<std::int64_t>(indices);
  visit_float(out.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < indices.numel(); ++i) {
      const std::int64_t row = index[i] - first;
      T* const to = elements<T>(out) + i * width;
      if (row < 0 || row >= rows)
        std::fill_n(to, width, T(0));
      else
        std::copy_n(elements<T>(table) + row * width, width, to);
    }
  });
}

void PlainOps::add_to_rows(Tensor table, const Tensor& grad, const Tensor& indices,
                           std::int64_t first) const {
  const std::int64_t width = table.size(1), rows = table.size(0);
  const auto* const index = elements<std::int64_t>(indices);
  visit_float(grad.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < indices.numel(); ++i) {
      const std::int64_t row = index[i] - first;
      if (row < 0 || row >= rows) continue;
      for_each_element(width, [to = elements<T>(table) + row * width,
                               g = elements<T>(grad) + i * width](std::int64_t j) { to[j] += g[j]; });
    }
  });
}

void PlainOps::dropout(Tensor out, const Tensor& in, const DropoutDraw& draw) const {
  visit_float(in.dtype(), [&]<class T>() {
    const functors::Drop<T> drop(draw);
    const T* const x = elements<T>(in);
    T* const y = elements<T>(out);
    for (std::int64_t i = 0; i < in.numel(); ++i) y[i] = x[i] * drop(i);
  });
}

// The largest logit is subtracted from all, which changes nothing and keeps exp() from overflowing.
void PlainOps::cross_entropy(Tensor logits, Tensor losses, const Tensor& targets, std::int64_t ignored,
                             double factor) const {
  const Rows rows(logits);
  const auto* const target = elements<std::int64_t>(targets);
  double* const loss = elements<double>(losses);
  visit_float(logits.dtype(), [&]<class T>() {
    for (std::int64_t r = 0; r < rows.count; ++r) {
      T* const x = elements<T>(logits) + r * rows.width;
      loss[r] = 0;
      if (target[r] == ignored) {
        std::fill_n(x, rows.width, T(0));
        continue;
      }
      const T largest = *std::max_element(x, x + rows.width);
      const bool is_class = target[r] >= 0 && target[r] < rows.width;
      const double chosen = is_class ? x[target[r]] - largest : std::numeric_limits<double>::quiet_NaN();
      for_each_element(rows.width,
                       [x, largest](std::int64_t i) { x[i] = functors::exponential(x[i] - largest); });
      const double total = sum_of(rows.width, [x](std::int64_t i) -> double { return x[i]; });
      loss[r] = std::log(total) - chosen;
      const auto scale = static_cast<T>(factor / total);
      for_each_element(rows.width, [x, scale](std::int64_t i) { x[i] *= scale; });
      if (is_class) x[target[r]] -= static_cast<T>(factor);
    }
  });
}

void PlainOps::rotate(Heads heads, std::int64_t first_position, double base, int direction) const {
  const std::int64_t half = heads.size / 2, time = heads.time();
  visit_float(heads.of.dtype(), [&]<class T>() {
    std::vector<T> cosine(static_cast<std::size_t>(half)), sine(cosine);
    for (std::int64_t t = 0; t < time; ++t) {
      for (std::int64_t d = 0; d < half; ++d) {
        const double angle = functors::rotary_angle(first_position + t, d, heads.size, base);
        cosine[static_cast<std::size_t>(d)] = static_cast<T>(std::cos(angle));
        sine[static_cast<std::size_t>(d)] = static_cast<T>(direction * std::sin(angle));
      }
      for (std::int64_t b = 0; b < heads.batch(); ++b) {
        for (std::int64_t h = 0; h < heads.count; ++h) {
          T* const x = elements<T>(heads.of) + (b * time + t) * heads.width() + heads.first + h * heads.size;
          for_each_element(half, [=, c = cosine.data(), s = sine.data()](std::int64_t d) {
            const T left = x[d], right = x[d + half];
            x[d] = left * c[d] - right * s[d];
            x[d + half] = right * c[d] + left * s[d];
          });
        }
      }
    }
  });
}

}  // namespace dist::nn
