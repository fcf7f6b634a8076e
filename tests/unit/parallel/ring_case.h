// Ring attention on a device, and what it must equal: the attention of one rank on the CPU.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <tuple>
#include <utility>

#include "dist/parallel/context/ring_attention.h"

#include "unit/nn/gradient_check.h"

namespace dist::test {

struct RingCase {
  int ranks;
  std::int64_t tokens, kv_heads = 4;
  bool causal = true, balanced = true;
  int row = 0;
  DType dtype = DType::f32;

  static constexpr std::int64_t batch = 2, heads = 4, size = 5;

  // f32 differs by the order of sums. In bf16 each rank's parts are rounded, and then their sums; gradients
  // begin with rounded outputs. `rounding`: of a number to the nearest one in bf16, relative to it.
  double bound() const {
    constexpr double rounding = 1.0 / 512;
    return dtype == DType::bf16 ? 3 * rounding : 2e-6;
  }
  ContextSlice slice() const { return {tokens, ranks, balanced}; }
  // Numbers that `dtype` has: queries, keys and values, or the gradient of the output; in f32, on the CPU.
  Tensor qkv() const { return numbers((heads + 2 * kv_heads) * size, 1); }
  Tensor grad() const { return numbers(heads * size, 5); }

  // Output, and gradient of `in`.
  std::pair<Tensor, Tensor> run(const nn::AttentionCore& core, const Tensor& in, const Tensor& of_out) const {
    const auto part = [](const Tensor& t, std::int64_t first, std::int64_t count) {
      return nn::Heads{t, first * size, count, size};
    };
    const auto parts = [&](const Tensor& t) {
      return std::array{part(t, 0, heads), part(t, heads, kv_heads), part(t, heads + kv_heads, kv_heads)};
    };
    const Tensor out = empty(of_out.shape(), in.dtype(), in.device()), grads = zeros_like(in),
                 lse = empty({batch, heads, in.size(1)}, DType::f32, in.device());
    const auto [q, k, v] = parts(in);
    const auto [grad_q, grad_k, grad_v] = parts(grads);
    nn::AttentionOptions options;
    options.scale = 0.6, options.causal = causal;
    core.forward(part(out, 0, heads), lse, q, k, v, options);
    core.backward({grad_q, grad_k, grad_v}, part(of_out, 0, heads), part(out, 0, heads), lse, q, k, v,
                  options);
    return {out, grads};
  }

 private:
  Tensor numbers(std::int64_t width, double seed) const {
    return nn::scattered({batch, tokens, width}, seed, dtype).to(DType::f32);
  }
};

inline void PrintTo(const RingCase& c, std::ostream* out) {
  *out << c.ranks << " ranks, " << c.tokens << " tokens of " << name(c.dtype) << (c.causal ? ", causal" : "")
       << (c.balanced ? ", balanced" : "") << ", rows of " << c.row;
}

// A rank's part of a case, on its device.
class RingRank {
 public:
  RingRank(const RingCase& c, int rank, Device device)
      : case_(c), slice_(c.slice()), rank_(rank), in_(here(c.qkv(), device)), grad_(here(c.grad(), device)) {}
  void run() { std::tie(out_, grads_) = case_.run(RingAttention({}, slice_, case_.row), in_, grad_); }
  // How far output and gradients are from those of one rank, relative to them; the larger of the two.
  double error() const {
    const auto [out, grads] = case_.run(nn::AttentionCore(), case_.qkv(), case_.grad());
    return std::max(relative(out_, out), relative(grads_, grads));
  }

 private:
  Tensor here(const Tensor& whole, Device device) const {
    return slice_.slice(whole, rank_).to(case_.dtype).to(device);
  }
  double relative(const Tensor& got, const Tensor& whole) const {
    const Tensor expected = slice_.slice(whole, rank_).to(DType::f64),
                 error = got.to(cpu).to(DType::f64) - expected;
    return std::sqrt(nn::dot(error, error) / nn::dot(expected, expected));
  }

  const RingCase case_;
  const ContextSlice slice_;
  const int rank_;
  const Tensor in_, grad_;
  Tensor out_, grads_;
};

}  // namespace dist::test
