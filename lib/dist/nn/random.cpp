#include "dist/nn/random.h"

#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <utility>

#include "dist/core/tasking.h"
#include "dist/core/values.h"
#include "dist/nn/row_functors.h"

namespace dist::nn {

namespace {

// torch seeds its generator with the lower half of a seed; this is the seed with which it starts.
constexpr auto first_seed = static_cast<std::uint32_t>(67280421310721);

// The generator of this thread, or of this virtual rank, which shares its thread with others.
std::mt19937& own_generator() {
  thread_local std::mt19937 of_thread(first_seed);
  Tasking* const tasking = Tasking::current();
  std::shared_ptr<void>* const local = tasking ? tasking->local() : nullptr;
  if (!local) return of_thread;
  if (!*local) *local = std::make_shared<std::mt19937>(first_seed);
  return *static_cast<std::mt19937*>(local->get());
}

}  // namespace

void manual_seed(std::uint64_t seed) { own_generator().seed(static_cast<std::uint32_t>(seed)); }

Tensor uniform(Shape shape, double bound) {
  std::mt19937& generator = own_generator();
  Tensor t = empty(std::move(shape), DType::f32, cpu);
  if (!has_values(t.dtype())) return t.to(get_default_device());
  const auto from = static_cast<float>(-bound), to = static_cast<float>(bound);
  for (float& element : t.data<float>()) {
    constexpr std::uint32_t mask = (1U << 24) - 1;  // the bits of an f32
    const float unit = static_cast<float>(generator() & mask) * 0x1p-24F;
    element = unit * (to - from) + from;
  }
  return t.to(get_default_device());
}

std::uint64_t random_key() {
  const std::uint64_t high = own_generator()();
  return high << 32 | own_generator()();
}

// Two numbers from two uniform ones (Box, Muller 1958).
Tensor normal(Shape shape, double deviation, std::uint64_t key) {
  Tensor t = empty(std::move(shape), DType::f32, cpu);
  if (!has_values(t.dtype())) return t.to(get_default_device());
  const auto elements = t.data<float>();
  for (std::size_t i = 0; i < elements.size(); i += 2) {
    const double u = (static_cast<double>(functors::mix(key, i) >> 11) + 1) * 0x1p-53;
    const double angle =
        2 * std::numbers::pi * static_cast<double>(functors::mix(key, i + 1) >> 11) * 0x1p-53;
    const double radius = deviation * std::sqrt(-2 * std::log(u));
    elements[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < elements.size()) elements[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return t.to(get_default_device());
}

}  // namespace dist::nn
