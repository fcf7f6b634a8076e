#include "dist/parallel/packed.h"

#include <numeric>

namespace dist {

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

}  // namespace dist
