#include "dist/parallel/packed.h"

#include <ranges>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "dist/core/fail.h"

namespace dist {
namespace {

std::string kind_of(const Tensor& t) {
  return fmt::format("{} {} on {}", name(t.dtype()), fmt::join(t.shape(), "x"), t.device().str());
}

// New memory for all of them, and each one's place in it.
struct Packed {
  template <class Tensors>
  explicit Packed(const Tensors& tensors) {
    std::int64_t total = 0;
    for (const Tensor& t : tensors) total += t.numel();
    const Tensor& like = *tensors.begin();
    whole = empty({total}, like.dtype(), like.device());
    std::int64_t at = 0;
    for (const Tensor& t : tensors) {
      places.push_back(whole.narrow(at, t.numel()).view(t.shape()));
      places.back().copy_(t);
      at += t.numel();
    }
  }
  Tensor whole;
  std::vector<Tensor> places;
};

}  // namespace

Tensor pack(std::span<Tensor* const> tensors) {
  const auto refer = [](Tensor* t) -> Tensor& { return *t; };
  Packed packed(tensors | std::views::transform(refer));
  for (std::size_t i = 0; i < tensors.size(); ++i) *tensors[i] = std::move(packed.places[i]);
  return packed.whole;
}

void all_reduce_packed(std::span<const Tensor> tensors, ReduceOp op, const ProcessGroup& group,
                       CallSite where) {
  if (tensors.empty()) return;
  Packed packed(tensors);
  all_reduce(packed.whole, op, {.group = group}, where);
  for (std::size_t i = 0; i < tensors.size(); ++i) Tensor(tensors[i]).copy_(packed.places[i]);
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
