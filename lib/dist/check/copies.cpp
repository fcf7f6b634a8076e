#include "dist/check/copies.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/ranges.h>

#include "dist/core/half.h"
#include "dist/core/values.h"

namespace dist::check {

namespace {

// Bits that depend on the number of the element alone (SplitMix64; Steele, Lea, Flood 2014).
std::uint64_t bits_of(std::uint64_t element) {
  std::uint64_t z = element * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return z ^ (z >> 27);
}

Finding explain_summands(std::span<const Copies> all) {
  const Copies& first = all.front();
  Finding finding{first.code, {}, {}};
  for (const Copies& one : all)
    if (one.sketches[0].norm != 0)
      finding.parties.push_back({one.rank, "a partial sum with " + first.names[0], one.where, {}});
  const std::size_t times = finding.parties.size();
  finding.what = fmt::format("{} of the {} ranks of {} add {}, so that the sum has it {} times", times,
                             all.size(), first.axis, first.names[0], times);
  return finding;
}

}  // namespace

Sketch sketch_of(const Tensor& tensor) {
  if (!has_values(tensor.dtype())) return {};  // like any other
  const Tensor here = tensor.to(cpu);
  double squares = 0;
  std::array<double, 3> sums{};
  visit_dtype(here.dtype(), [&]<class T>() {
    const auto* const x = static_cast<const T*>(here.raw());
    for (std::int64_t i = 0; i < here.numel(); ++i) {
      const double value = static_cast<double>(x[i]);
      const std::uint64_t bits = bits_of(static_cast<std::uint64_t>(i));
      squares += value * value;
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += (bits >> (20 + k) & 1) != 0 ? value : -value;
    }
  });
  const bool is_16_bit = here.dtype() == DType::f16 || here.dtype() == DType::bf16;
  Sketch sketch{.norm = static_cast<float>(std::sqrt(squares)),
                .projections = {},
                .tolerance = is_16_bit ? 3e-2F : 1e-3F};
  std::ranges::transform(sums, sketch.projections.begin(),
                         [](double sum) { return static_cast<float>(sum); });
  return sketch;
}

std::string Copies::str() const { return fmt::format("{} at {}", fmt::join(names, ", "), where.str()); }

std::optional<Finding> explain_copies(std::span<const Copies> all) {
  const Copies& first = all.front();
  if (std::ranges::any_of(all, [&](const Copies& c) { return c.sketches.size() != first.sketches.size(); }))
    return {};
  const auto is_none = [](const Copies& one) { return one.sketches[0].norm == 0; };
  if (first.is_summand) {
    if (std::ranges::count_if(all, is_none) + 1 == std::ssize(all)) return {};
    return explain_summands(all);
  }
  float largest = 0;
  for (const Copies& one : all)
    for (const Sketch& sketch : one.sketches) largest = std::max(largest, sketch.norm);
  constexpr float noise =
      1e-6F;  // what rounding may leave of a gradient that should be 0, relative to the largest
  std::size_t odd = 0, count = 0;
  for (std::size_t i = 0; i < first.names.size(); ++i) {
    const auto differs = [&](const Copies& other) {
      if (first.code == Code::different_replicas)
        return std::memcmp(&first.sketches[i], &other.sketches[i], sizeof(Sketch)) != 0;
      const Sketch &a = first.sketches[i], &b = other.sketches[i];
      const float most = std::max(a.tolerance * std::max(a.norm, b.norm), noise * largest);
      const auto is_far = [&](float x, float y) { return std::abs(x - y) > most; };
      return is_far(a.norm, b.norm) || !std::ranges::equal(a.projections, b.projections, std::not_fn(is_far));
    };
    if (std::ranges::none_of(all, differs)) continue;
    odd = i;
    ++count;
  }
  if (count == 0) return {};
  Finding finding{first.code, {}, {}, first.fix};
  const std::string others = count == 1 ? "" : fmt::format(" (and of {} before it)", count - 1);
  finding.what = fmt::format("{}{} differs between the ranks of {}", first.names[odd], others, first.axis);
  for (const Copies& one : all)
    finding.parties.push_back({one.rank, fmt::format("norm {:.4g}", one.sketches[odd].norm), one.where, {}});
  return finding;
}

}  // namespace dist::check
