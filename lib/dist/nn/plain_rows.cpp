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
    using C = ComputeType<T>;
    const auto n = static_cast<double>(rows.width);
    for_each_row(rows.count, rows.width, [&](std::int64_t r) {
      const T* const x = elements<T>(in) + r * rows.width;
      T* const y = elements<T>(out) + r * rows.width;
      double mean = 0;
      if (norm.mean.is_defined()) {
        mean = sum_of(rows.width, [x](std::int64_t i) -> double { return x[i]; }) / n;
        elements<C>(norm.mean)[r] = static_cast<C>(mean);
      }
      const double square =
          sum_of(rows.width, [x, mean](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); });
      const double scale = 1 / std::sqrt(square / n + eps);
      elements<C>(norm.invstd)[r] = static_cast<C>(scale);
      const auto centre = static_cast<C>(mean), factor = static_cast<C>(scale);
      if (bias)
        for_each_element(rows.width, [=](std::int64_t i) {
          y[i] = static_cast<T>((x[i] - centre) * factor * weight[i] + bias[i]);
        });
      else
        for_each_element(
            rows.width, [=](std::int64_t i) { y[i] = static_cast<T>((x[i] - centre) * factor * weight[i]); });
    });
  });
}

// With x^ = (x - mean) invstd and h = grad_out weight, over the n elements of a row:
//   grad_in = invstd (h - sum(h) / n - x^ sum(h x^) / n), without the sum of h where there is no mean
void PlainOps::row_norm_backward(RowNormGrads grads, const Tensor& grad_out, const Tensor& in,
                                 const RowNorm& norm) const {
  const Rows rows(in);
  visit_float(in.dtype(), [&]<class T>() {
    using C = ComputeType<T>;
    const T *const weight = elements<T>(norm.weight), *const xs = elements<T>(in),
                   *const gs = elements<T>(grad_out);
    const auto n = static_cast<double>(rows.width);
    const auto centre_of = [&](std::int64_t r) {
      return norm.mean.is_defined() ? elements<C>(norm.mean)[r] : C(0);
    };
    for_each_row(rows.count, rows.width, [&](std::int64_t r) {
      const T *const x = xs + r * rows.width, *const g = gs + r * rows.width;
      T* const to = elements<T>(grads.in) + r * rows.width;
      const C centre = centre_of(r), factor = elements<C>(norm.invstd)[r];
      const double of_h_x = sum_of(rows.width, [=](std::int64_t i) -> double {
        return g[i] * weight[i] * ((x[i] - centre) * factor);
      });
      const double of_h = norm.mean.is_defined()
                              ? sum_of(rows.width, [=](std::int64_t i) -> double { return g[i] * weight[i]; })
                              : 0;
      const auto slope = static_cast<C>(of_h_x / n), level = static_cast<C>(of_h / n);
      for_each_element(rows.width, [=](std::int64_t i) {
        to[i] = static_cast<T>(factor * (g[i] * weight[i] - level - (x[i] - centre) * factor * slope));
      });
    });
    if (!grads.weight.is_defined() && !grads.bias.is_defined()) return;
    in_columns(rows.count, rows.width, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> of_weight(static_cast<std::size_t>(end - begin)), of_bias(of_weight);
      for (std::int64_t r = 0; r < rows.count; ++r) {
        for_each_element(end - begin, [x = xs + r * rows.width + begin, g = gs + r * rows.width + begin,
                                       centre = centre_of(r), factor = elements<C>(norm.invstd)[r],
                                       w = of_weight.data(), b = of_bias.data()](std::int64_t i) {
          w[i] += g[i] * ((x[i] - centre) * factor);
          b[i] += g[i];
        });
      }
      if (grads.weight.is_defined())
        for_each_element(end - begin, [w = of_weight.data(), to = elements<T>(grads.weight) + begin](
                                          std::int64_t i) { accumulate(to[i], w[i]); });
      if (grads.bias.is_defined())
        for_each_element(end - begin, [b = of_bias.data(), to = elements<T>(grads.bias) + begin](
                                          std::int64_t i) { accumulate(to[i], b[i]); });
    });
  });
}

void PlainOps::activate(Tensor out, const Tensor& in, Activation activation) const {
  visit_float(in.dtype(), [&]<class T>() {
    functors::with_activation<ComputeType<T>>(activation, [&](const auto& f) {
      for_each_element(in.numel(), [f, y = elements<T>(out), x = elements<T>(in)](std::int64_t i) {
        y[i] = static_cast<T>(f(x[i]));
      });
    });
  });
}

void PlainOps::activate_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                                 Activation activation) const {
  visit_float(in.dtype(), [&]<class T>() {
    functors::with_activation<ComputeType<T>>(activation, [&](const auto& f) {
      for_each_element(in.numel(),
                       [f, to = elements<T>(grad_in), g = elements<T>(grad_out), x = elements<T>(in)](
                           std::int64_t i) { to[i] = static_cast<T>(g[i] * f.slope(x[i])); });
    });
  });
}

void PlainOps::gather_rows(Tensor out, const Tensor& table, const Tensor& indices, std::int64_t first) const {
  const std::int64_t width = table.size(1), rows = table.size(0);
  const auto* const index = elements<std::int64_t>(indices);
  visit_float(out.dtype(), [&]<class T>() {
    for_each_row(indices.numel(), width, [&](std::int64_t i) {
      const std::int64_t row = index[i] - first;
      T* const to = elements<T>(out) + i * width;
      if (row < 0 || row >= rows)
        std::fill_n(to, width, T(0));
      else
        std::copy_n(elements<T>(table) + row * width, width, to);
    });
  });
}

// Each row of the table once, with all that is added to it.
void PlainOps::add_to_rows(Tensor table, const Tensor& grad, const Tensor& indices,
                           std::int64_t first) const {
  struct Addend {
    std::int64_t row, index;
  };
  const std::int64_t width = table.size(1), rows = table.size(0);
  std::vector<Addend> addends;
  std::int64_t at = 0;
  for (const std::int64_t index : indices.data<std::int64_t>()) {
    if (index >= first && index - first < rows) addends.push_back({index - first, at});
    ++at;
  }
  std::ranges::stable_sort(addends, {}, &Addend::row);
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < addends.size(); ++i)
    if (i == 0 || addends[i].row != addends[i - 1].row) begins.push_back(i);
  const auto touched = static_cast<std::int64_t>(begins.size());
  begins.push_back(addends.size());
  visit_float(grad.dtype(), [&]<class T>() {
    for_each_row_run(touched, width, [&](std::int64_t begin, std::int64_t end) {
      std::vector<ComputeType<T>> sums(static_cast<std::size_t>(width));
      for (auto r = static_cast<std::size_t>(begin); r < static_cast<std::size_t>(end); ++r) {
        T* const to = elements<T>(table) + addends[begins[r]].row * width;
        std::copy_n(to, width, sums.begin());
        for (std::size_t i = begins[r]; i < begins[r + 1]; ++i)
          for_each_element(width, [all = sums.data(), g = elements<T>(grad) + addends[i].index * width](
                                      std::int64_t j) { all[j] += g[j]; });
        for_each_element(width, [to, all = sums.data()](std::int64_t j) { to[j] = static_cast<T>(all[j]); });
      }
    });
  });
}

void PlainOps::dropout(Tensor out, const Tensor& in, const DropoutDraw& draw) const {
  visit_float(in.dtype(), [&]<class T>() {
    const functors::Drop<ComputeType<T>> drop(draw);
    const T* const x = elements<T>(in);
    T* const y = elements<T>(out);
    for_each_row(in.numel(), 1, [=](std::int64_t i) { y[i] = static_cast<T>(x[i] * drop(i)); });
  });
}

// The largest logit is subtracted from all, which changes nothing and keeps exp() from overflowing.
void PlainOps::count_targets(Tensor count, const Tensor& targets, std::int64_t ignored) const {
  const auto all = targets.data<std::int64_t>();
  count.fill_(static_cast<double>(all.size()) - static_cast<double>(std::ranges::count(all, ignored)));
}

void PlainOps::cross_entropy(Tensor logits, Tensor losses, const Tensor& targets, std::int64_t ignored,
                             const Tensor& count) const {
  const double factor = functors::one_of(*elements<double>(count));
  const Rows rows(logits);
  const auto* const target = elements<std::int64_t>(targets);
  double* const loss = elements<double>(losses);
  visit_float(logits.dtype(), [&]<class T>() {
    using C = ComputeType<T>;
    for_each_row_run(rows.count, rows.width, [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> exponentials(static_cast<std::size_t>(rows.width));
      C* const e = exponentials.data();
      for (std::int64_t r = begin; r < end; ++r) {
        T* const x = elements<T>(logits) + r * rows.width;
        loss[r] = 0;
        if (target[r] == ignored) {
          std::fill_n(x, rows.width, T(0));
          continue;
        }
        const C largest = *std::max_element(x, x + rows.width);
        const bool is_class = target[r] >= 0 && target[r] < rows.width;
        const double chosen = is_class ? x[target[r]] - largest : std::numeric_limits<double>::quiet_NaN();
        for_each_element(rows.width,
                         [e, x, largest](std::int64_t i) { e[i] = functors::exponential(x[i] - largest); });
        const double total = sum_of(rows.width, [e](std::int64_t i) -> double { return e[i]; });
        loss[r] = std::log(total) - chosen;
        const auto scale = static_cast<C>(factor / total);
        const C of_target = is_class ? e[target[r]] * scale - static_cast<C>(factor) : C(0);
        for_each_element(rows.width, [e, x, scale](std::int64_t i) { x[i] = static_cast<T>(e[i] * scale); });
        if (is_class) x[target[r]] = static_cast<T>(of_target);
      }
    });
  });
}

void PlainOps::rotate(Heads heads, std::int64_t first_position, double base, int direction) const {
  const std::int64_t half = heads.size / 2, time = heads.time(), batch = heads.batch();
  visit_float(heads.of.dtype(), [&]<class T>() {
    using C = ComputeType<T>;
    for_each_row_run(time, batch * heads.count * heads.size, [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> cosine(static_cast<std::size_t>(half)), sine(cosine);
      for (std::int64_t t = begin; t < end; ++t) {
        for (std::int64_t d = 0; d < half; ++d) {
          const double angle = functors::rotary_angle(first_position + t, d, heads.size, base);
          cosine[static_cast<std::size_t>(d)] = static_cast<C>(std::cos(angle));
          sine[static_cast<std::size_t>(d)] = static_cast<C>(direction * std::sin(angle));
        }
        for (std::int64_t i = 0; i < batch * heads.count; ++i) {
          T* const x = elements<T>(heads.of) + (i / heads.count * time + t) * heads.width() + heads.first +
                       i % heads.count * heads.size;
          for_each_element(half, [=, c = cosine.data(), s = sine.data()](std::int64_t d) {
            const C left = x[d], right = x[d + half];
            x[d] = static_cast<T>(left * c[d] - right * s[d]);
            x[d + half] = static_cast<T>(right * c[d] + left * s[d]);
          });
        }
      }
    });
  });
}

}  // namespace dist::nn
