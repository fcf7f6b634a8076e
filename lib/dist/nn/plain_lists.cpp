#include "dist/nn/functors.h"
#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

void PlainOps::sgd(std::span<const SgdItem> list, double momentum) const {
  for (const SgdItem& item : list) {
    visit_float(item.value.dtype(), [&]<class T>() {
      const functors::SgdUpdate<T> update(item, momentum);
      T* const x = elements<T>(item.value);
      const T* const g = elements<T>(item.grad);
      if (!item.velocity.is_defined())
        return for_each_element(item.value.numel(), [=](std::int64_t i) { update(x[i], g[i]); });
      for_each_element(item.value.numel(),
                       [=, v = elements<T>(item.velocity)](std::int64_t i) { update(x[i], g[i], v[i]); });
    });
  }
}

void PlainOps::adam(std::span<const AdamItem> list, const AdamStep& step) const {
  for (const AdamItem& item : list) {
    visit_float(item.value.dtype(), [&]<class T>() {
      for_each_element(item.value.numel(),
                       [update = functors::AdamUpdate<T>(step), rates = functors::AdamRates<T>(item, step),
                        x = elements<T>(item.value), g = elements<T>(item.grad), m = elements<T>(item.m),
                        v = elements<T>(item.v)](std::int64_t i) { update(rates, x[i], g[i], m[i], v[i]); });
    });
  }
}

void PlainOps::squared_norm(Tensor out, std::span<const Tensor> list) const {
  double total = 0;
  for (const Tensor& t : list) {
    visit_float(t.dtype(), [&]<class T>() {
      total += sum_of(t.numel(), [x = elements<T>(t)](std::int64_t i) { return double{x[i]} * x[i]; });
    });
  }
  *elements<double>(out) = total;
}

void PlainOps::clip(std::span<const Tensor> list, const Tensor& squared_norm, double max_norm) const {
  const double factor = functors::ClipFactor{max_norm}(*elements<double>(squared_norm));
  if (factor == 1) return;
  for (const Tensor& t : list) {
    visit_float(t.dtype(), [&]<class T>() {
      for_each_element(t.numel(),
                       [x = elements<T>(t), by = static_cast<T>(factor)](std::int64_t i) { x[i] *= by; });
    });
  }
}

}  // namespace dist::nn
