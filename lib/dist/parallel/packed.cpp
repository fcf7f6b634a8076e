#include "dist/parallel/packed.h"

#include <algorithm>
#include <string>

#include <fmt/ranges.h>

#include "dist/core/fail.h"
#include "dist/core/round_up.h"

namespace dist {
namespace {

std::string kind_of(const Tensor& t) {
  return fmt::format("{} {} on {}", name(t.dtype()), fmt::join(t.shape(), "x"), t.device().str());
}

}  // namespace

Tensor pack(std::span<Tensor* const> tensors) {
  const Tensor like = *tensors.front();
  // cuDNN adds to a gradient only where it begins at 16 bytes.
  const auto unit =
      like.device() == cpu ? std::size_t{1} : std::max<std::size_t>(1, 16 / size_of(like.dtype()));
  const auto room = [unit](const Tensor& t) {
    return static_cast<std::int64_t>(round_up(static_cast<std::size_t>(t.numel()), unit));
  };
  std::int64_t total = 0;
  for (const Tensor* t : tensors) total += room(*t);
  Tensor whole = empty({total}, like.dtype(), like.device());
  if (unit > 1) whole.zero_();
  std::int64_t at = 0;
  for (Tensor* const t : tensors) {
    Tensor place = whole.narrow(at, t->numel()).view(t->shape());
    place.copy_(*t);
    at += room(*t);
    *t = std::move(place);
  }
  return whole;
}

void put_back(Tensor& now, const Tensor& place, std::string_view what, std::string_view parameter) {
  if (now.is_defined() && now.raw() == place.raw() && now.dtype() == place.dtype()) return;
  if (!now.is_defined() || now.shape() != place.shape() || now.dtype() != place.dtype() ||
      now.device() != place.device())
    fail(Errc::invalid_argument,
         "the {} of \"{}\" is {} now and was {} when the model was made parallel: call Module::to() before "
         "that, and do not change its shape",
         what, parameter, now.is_defined() ? kind_of(now) : "undefined", kind_of(place));
  now = Tensor(place).copy_(now);
}

}  // namespace dist
