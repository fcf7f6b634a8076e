#include "dist/nn/random.h"

#include <random>
#include <utility>

namespace dist::nn {

namespace {

// torch seeds its generator with the lower half of a seed; the number is what it begins with.
thread_local std::mt19937 generator(static_cast<std::uint32_t>(67280421310721));

}  // namespace

void manual_seed(std::uint64_t seed) { generator.seed(static_cast<std::uint32_t>(seed)); }

Tensor uniform(Shape shape, double bound) {
  Tensor t = empty(std::move(shape), DType::f32, cpu);
  const auto from = static_cast<float>(-bound), to = static_cast<float>(bound);
  for (float& element : t.data<float>()) {
    constexpr std::uint32_t mask = (1U << 24) - 1;  // the bits of an f32
    const float unit = static_cast<float>(generator() & mask) * 0x1p-24F;
    element = unit * (to - from) + from;
  }
  return t.to(get_default_device());
}

}  // namespace dist::nn
