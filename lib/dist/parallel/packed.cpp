#include "dist/parallel/packed.h"

#include <numeric>
#include <string>

#include <fmt/ranges.h>

#include "dist/core/fail.h"

namespace dist {
namespace {

std::string kind_of(const Tensor& t) {
  return fmt::format("{} {} on {}", name(t.dtype()), fmt::join(t.shape(), "x"), t.device().str());
}

}  // namespace

Tensor pack(std::span<Tensor* const> tensors) {
  const Tensor& like = *tensors.front();
  const auto total = std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0},
                                     [](std::int64_t sum, const Tensor* t) { return sum + t->numel(); });
  Tensor whole = empty({total}, like.dtype(), like.device());
  std::int64_t at = 0;
  for (Tensor* const t : tensors) {
    const std::int64_t count = t->numel();
    Tensor place = whole.narrow(at, count).view(t->shape());
    place.copy_(*t);
    *t = std::move(place);
    at += count;
  }
  return whole;
}

void put_back_gradient(const nn::NamedParameter& named, const Tensor& place) {
  Tensor& gradient = named.parameter->grad;
  if (gradient.raw() == place.raw() && gradient.dtype() == place.dtype()) return;
  if (gradient.shape() != place.shape() || gradient.dtype() != place.dtype() ||
      gradient.device() != place.device())
    fail(Errc::invalid_argument,
         "the gradient of \"{}\" is {} now and was {} when the model was made parallel: call Module::to() "
         "before that, and do not change the shape of a gradient",
         named.name, kind_of(gradient), kind_of(place));
  gradient = Tensor(place).copy_(gradient);
}

}  // namespace dist
