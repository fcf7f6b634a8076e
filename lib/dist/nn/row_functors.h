// The arithmetic of row_ops.h, shared by the CPU's loops and the GPU's kernels, as functors.h: exponentials
// that compilers can vectorise, activations, counter-based random numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "dist/core/host_device.h"
#include "dist/nn/elements.h"
#include "dist/nn/row_ops.h"

namespace dist::nn::functors {

// e^x within 3e-7; 0 below -87.3, where the result would not be a normal number, and infinity above 88.37.
// With x = n ln 2 + r, |r| <= ln 2 / 2 (Cody, Waite 1980; ln 2 in two parts, so that n times the first is
// exact), e^r is its Taylor polynomial.
DIST_HD inline float exponential(float x) {
  constexpr float log2_e = 1.44269504F, ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
  constexpr float rounds = 12582912.F;  // 1.5 * 2^23: a float this large has no fraction
  const float low = x < -88.F ? -88.F : x, bounded = low > 89.F ? 89.F : low;
  const float shifted = bounded * log2_e + rounds, n = shifted - rounds;
  const float r = bounded - n * ln2_high - n * ln2_low;
  float p = 1.F / 5040;
  p = p * r + 1.F / 720;
  p = p * r + 1.F / 120;
  p = p * r + 1.F / 24;
  p = p * r + 1.F / 6;
  p = p * r + 0.5F;
  p = p * r * r + r + 1.F;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127U) << 23;  // 2^n: the last bits of `shifted` are n
  float power = 0;
  std::memcpy(&power, &bits, sizeof power);
  return x < -87.3F ? 0.F : p * power;
}
DIST_HD inline double exponential(double x) { return std::exp(x); }

// In f32 within 4e-7: Abramowitz, Stegun 1964, 7.1.26.
DIST_HD inline float error_function(float x) {
  const float a = x < 0 ? -x : x;
  const float t = 1.F / (1.F + 0.3275911F * a);
  const float p =
      ((((1.061405429F * t - 1.453152027F) * t + 1.421413741F) * t - 0.284496736F) * t + 0.254829592F) * t;
  const float value = 1.F - p * exponential(-a * a);
  return x < 0 ? -value : value;
}
DIST_HD inline double error_function(double x) { return std::erf(x); }

DIST_HD inline float hyperbolic_tangent(float x) { return 1.F - 2.F / (exponential(2.F * x) + 1.F); }
DIST_HD inline double hyperbolic_tangent(double x) { return std::tanh(x); }

// An activation's value and its derivative at x.
template <Activation activation, class T>
struct Activate {
  static constexpr T root_half = T(0.70710678118654752440);  // 1 / sqrt(2)
  static constexpr T density = T(0.39894228040143267794);    // 1 / sqrt(2 pi)
  static constexpr T root_two_over_pi = T(0.79788456080286535588);
  static constexpr T cubic = T(0.044715);

  DIST_HD T operator()(T x) const {
    if constexpr (activation == Activation::gelu) return x * T(0.5) * (T(1) + error_function(x * root_half));
    if constexpr (activation == Activation::gelu_tanh)
      return x * T(0.5) * (T(1) + hyperbolic_tangent(root_two_over_pi * (x + cubic * x * x * x)));
    if constexpr (activation == Activation::silu) return x / (T(1) + exponential(-x));
  }
  DIST_HD T slope(T x) const {
    if constexpr (activation == Activation::gelu)
      return T(0.5) * (T(1) + error_function(x * root_half)) + x * density * exponential(T(-0.5) * x * x);
    if constexpr (activation == Activation::gelu_tanh) {
      const T t = hyperbolic_tangent(root_two_over_pi * (x + cubic * x * x * x));
      return T(0.5) * (T(1) + t) +
             T(0.5) * x * (T(1) - t * t) * root_two_over_pi * (T(1) + T(3) * cubic * x * x);
    }
    if constexpr (activation == Activation::silu) {
      const T s = T(1) / (T(1) + exponential(-x));
      return s * (T(1) + x * (T(1) - s));
    }
  }
};

// The functor for `activation`, given to f.
template <class T, class F>
auto with_activation(Activation activation, const F& f) {
  switch (activation) {
    case Activation::gelu: return f(Activate<Activation::gelu, T>());
    case Activation::gelu_tanh: return f(Activate<Activation::gelu_tanh, T>());
    case Activation::silu: return f(Activate<Activation::silu, T>());
  }
  return f(Activate<Activation::gelu, T>());
}

// One target's part of a mean over `count` of them.
DIST_HD inline double one_of(double count) { return count == 0 ? 0 : 1 / count; }

// Two softmaxes over different keys as one (lab 08), from the logarithms of their denominators: that of both
// together, and the factors of their outputs. The logarithm of a softmax without keys is -inf.
template <class C>
struct MergedSoftmax {
  C log_sum, factor, other_factor;

  DIST_HD MergedSoftmax(C mine, C other) : log_sum(mine), factor(1), other_factor(0) {
    const C high = mine > other ? mine : other;
    if (high == -std::numeric_limits<C>::infinity()) return;
    log_sum = high + std::log(exponential(mine - high) + exponential(other - high));
    factor = exponential(mine - log_sum);
    other_factor = exponential(other - log_sum);
  }
};

// merge_attention() of row_ops.h, where T is the type of `part`. A row is one head of one of its queries.
template <class T>
struct MergeAttention {
  using C = ComputeType<T>;
  C *out, *lse;
  const T* part;
  const C* part_lse;
  std::int64_t rows, heads, queries, all_queries, size, first;

  MergeAttention(const Tensor& of, const Tensor& of_lse, const Tensor& other, const Tensor& other_lse,
                 std::int64_t first_query)
      : out(elements<C>(of)),
        lse(elements<C>(of_lse)),
        part(elements<T>(other)),
        part_lse(elements<C>(other_lse)),
        rows(other_lse.numel()),
        heads(other_lse.size(1)),
        queries(other_lse.size(2)),
        all_queries(of_lse.size(2)),
        size(other.size(2) / heads),
        first(first_query) {}

  // Rows are numbered as heads are in `part`: by sample, query, head.
  struct Row {
    C* out;
    const T* part;
    C* lse;
    MergedSoftmax<C> merged;
  };
  DIST_HD Row row(std::int64_t i) const {
    const std::int64_t h = i % heads, t = i / heads % queries, b = i / heads / queries;
    C* const mine = lse + (b * heads + h) * all_queries + first + t;
    return {out + ((b * all_queries + first + t) * heads + h) * size, part + i * size, mine,
            MergedSoftmax<C>(*mine, part_lse[(b * heads + h) * queries + t])};
  }
  DIST_HD static void merge(const Row& row, std::int64_t d) {
    row.out[d] = row.merged.factor * row.out[d] + row.merged.other_factor * static_cast<C>(row.part[d]);
  }
};

// By how much a position turns pair d of a head of this size.
DIST_HD inline double rotary_angle(std::int64_t position, std::int64_t d, std::int64_t size, double base) {
  return static_cast<double>(position) *
         std::pow(base, -2.0 * static_cast<double>(d) / static_cast<double>(size));
}

// 64 bits that look random, for each counter: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
DIST_HD inline std::uint64_t mix(std::uint64_t key, std::uint64_t counter) {
  std::uint64_t z = key + (counter + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// The key of a layer's draws in a step.
DIST_HD inline std::uint64_t draw_key(std::uint64_t seed, std::uint64_t step, std::uint64_t layer) {
  return mix(mix(seed, step), layer);
}

// What element i of a rank's slice is multiplied by.
template <class T>
struct Drop {
  const std::int64_t* step;  // see DropoutDraw
  std::uint64_t seed, layer;
  std::uint64_t key, threshold;  // of 2^53 numbers, those below it are dropped
  T scale;
  std::int64_t rows, width, all_rows, all_width, first_outer, first_row, first_column;

  explicit Drop(const DropoutDraw& draw)
      : step(draw.step),
        seed(draw.seed),
        layer(draw.layer),
        key(draw.key),
        threshold(static_cast<std::uint64_t>(draw.p * 0x1p53)),
        scale(static_cast<T>(draw.p < 1 ? 1 / (1 - draw.p) : 0)),
        rows(draw.rows),
        width(draw.width),
        all_rows(draw.all_rows),
        all_width(draw.all_width),
        first_outer(draw.first_outer),
        first_row(draw.first_row),
        first_column(draw.first_column) {}

  // For kernels, which can read the number of the step.
  DIST_HD T on_device(std::int64_t i) const {
    if (!step) return (*this)(i);
    Drop now = *this;
    now.key = draw_key(seed, static_cast<std::uint64_t>(*step), layer);
    return now(i);
  }
  DIST_HD T operator()(std::int64_t i) const {
    const std::int64_t row = i / width, outer = row / rows;
    const std::int64_t all = ((outer + first_outer) * all_rows + row - outer * rows + first_row) * all_width +
                             i - row * width + first_column;
    return mix(key, static_cast<std::uint64_t>(all)) >> 11 < threshold ? T(0) : scale;
  }
};

}  // namespace dist::nn::functors
