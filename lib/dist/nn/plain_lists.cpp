#include "dist/nn/functors.h"
#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

// Calls f with the types of an item's value and gradient.
template <class Item, class F>
void visit_item(const Item& item, const F& f) {
  if (is_master(item)) return f.template operator()<float, BFloat16>();
  visit_float(item.value.dtype(), [&f]<class T>() { f.template operator()<T, T>(); });
}

}  // namespace

void PlainOps::sgd(std::span<const SgdItem> list, double momentum) const {
  for (const SgdItem& item : list) {
    visit_item(item, [&]<class T, class G>() {
      using C = ComputeType<T>;
      const functors::SgdUpdate<C> update(item, momentum);
      const functors::Weight<T, G> weight(item);
      const G* const g = elements<G>(item.grad);
      if (!item.velocity.is_defined())
        return for_each_element(item.value.numel(), [=](std::int64_t i) {
          C x = weight.value[i];
          update(x, g[i]);
          weight.set(i, x);
        });
      for_each_element(item.value.numel(), [=, velocity = elements<T>(item.velocity)](std::int64_t i) {
        C x = weight.value[i], v = velocity[i];
        update(x, g[i], v);
        weight.set(i, x);
        velocity[i] = static_cast<T>(v);
      });
    });
  }
}

void PlainOps::adam(std::span<const AdamItem> list, const AdamStep& step) const {
  for (const AdamItem& item : list) {
    visit_item(item, [&]<class T, class G>() {
      using C = ComputeType<T>;
      for_each_element(item.value.numel(),
                       [update = functors::AdamUpdate<C>(step), rates = functors::AdamRates<C>(item, step),
                        weight = functors::Weight<T, G>(item), g = elements<G>(item.grad),
                        first = elements<T>(item.m), second = elements<T>(item.v)](std::int64_t i) {
                         C x = weight.value[i], m = first[i], v = second[i];
                         update(rates, x, g[i], m, v);
                         weight.set(i, x);
                         first[i] = static_cast<T>(m);
                         second[i] = static_cast<T>(v);
                       });
    });
  }
}

void PlainOps::zero(std::span<const Tensor> list) const {
  for (Tensor t : list) t.zero_();
}

void PlainOps::squared_norm(Tensor out, std::span<const Tensor> list) const {
  double total = 0;
  for (const Tensor& t : list) {
    visit_float(t.dtype(), [&]<class T>() {
      total += sum_of(t.numel(), [from = elements<T>(t)](std::int64_t i) {
        const double x = from[i];
        return x * x;
      });
    });
  }
  *elements<double>(out) = total;
}

void PlainOps::clip(std::span<const Tensor> list, const Tensor& squared_norm, double max_norm) const {
  const double factor = functors::ClipFactor{max_norm}(*elements<double>(squared_norm));
  if (factor == 1) return;
  for (const Tensor& t : list) {
    visit_float(t.dtype(), [&]<class T>() {
      for_each_element(t.numel(), [x = elements<T>(t), by = static_cast<ComputeType<T>>(factor)](
                                      std::int64_t i) { x[i] = static_cast<T>(x[i] * by); });
    });
  }
}

}  // namespace dist::nn
