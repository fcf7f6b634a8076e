#include "dist/data/dataset.h"

#include <utility>

#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/data/pinned_memory.h"

namespace dist::data {
namespace {

std::string described(const Tensor& t) {
  return fmt::format("{} of shape {}", name(t.dtype()), to_string(t.shape()));
}

Tensor stack(std::span<const Sample> samples, Tensor Sample::*part, const char* what, PinnedMemory* pinned) {
  const Tensor& first = samples.front().*part;
  Shape shape{static_cast<std::int64_t>(samples.size())};
  shape.insert(shape.end(), first.shape().begin(), first.shape().end());
  Tensor all = pinned != nullptr && first.device() == cpu
                   ? pinned->empty(std::move(shape), first.dtype())
                   : empty(std::move(shape), first.dtype(), first.device());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Tensor& one = samples[i].*part;
    if (one.shape() != first.shape() || one.dtype() != first.dtype())
      fail(Errc::invalid_argument,
           "samples of one batch must have one shape and dtype, but the {} of sample {} of the batch is {} "
           "and that of "
           "sample 0 is {}",
           what, i, described(one), described(first));
    all[static_cast<std::int64_t>(i)].copy_(one);
  }
  return all;
}

}  // namespace

void Shard::check() const {
  if (count < 1 || index < 0 || index >= count)
    fail(Errc::invalid_argument, "shard {} of {}: shards have numbers 0 to count - 1", index, count);
}

Batch stack(std::span<const Sample> samples, PinnedMemory* pinned) {
  if (samples.empty()) fail(Errc::invalid_argument, "a batch of no samples has no shape: give at least one");
  return {stack(samples, &Sample::input, "input", pinned), stack(samples, &Sample::target, "target", pinned)};
}

SampleStream keep_shard(SampleStream all, Shard shard) {
  return [all = std::move(all), shard, next = std::int64_t{0}]() mutable -> std::optional<Sample> {
    while (auto sample = all()) {
      if (shard.contains(next++)) return sample;
    }
    return std::nullopt;
  };
}

}  // namespace dist::data
