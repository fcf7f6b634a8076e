// The GPU's kernels as Ops that run on the CPU (support/cuda_on_cpu), and their comparison with the plain
// loops.
#pragma once

#include <cmath>

#include <gtest/gtest.h>

#include "dist/nn/cuda/kernels.h"
#include "dist/nn/cuda/list_kernels.h"
#include "dist/nn/cuda/row_kernels.h"
#include "dist/nn/plain_ops.h"

#include "unit/nn/gradient_check.h"

namespace dist::nn {

// Like CudaOps, but without the parts that cuBLAS and cuDNN compute.
class KernelOps final : public PlainOps {
 public:
  void add_channels(Tensor out, const Tensor& of_channels) const override {
    ok(cuda_kernels::add_channels(nullptr, out, of_channels));
  }
  void add_channel_sums(Tensor of_channels, const Tensor& in) const override {
    ok(cuda_kernels::add_channel_sums(nullptr, of_channels, in));
  }
  void relu(Tensor out, const Tensor& in) const override { ok(cuda_kernels::relu(nullptr, out, in, in)); }
  void relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const override {
    ok(cuda_kernels::relu(nullptr, out, grad, result));
  }
  void max_pool(Tensor out, Tensor winners, const Tensor& in, const Windows& windows) const override {
    ok(cuda_kernels::max_pool(nullptr, out, winners, in, windows));
  }
  void max_pool_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& winners) const override {
    grad_in.zero_();
    ok(cuda_kernels::max_pool_backward(nullptr, grad_in, grad_out, winners));
  }
  void batch_norm(Tensor out, const Tensor& in, NormTensors norm, const NormOptions& options) const override {
    ok(cuda_kernels::batch_norm(nullptr, out, in, norm, options, empty({in.size(1), 2}, DType::f64)));
  }
  void batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in, const NormTensors& norm,
                           bool training) const override {
    const Tensor planes = empty({in.size(1), 3}, DType::f64);
    ok(cuda_kernels::batch_norm_backward(nullptr, grads, grad_out, in, norm, training, planes));
  }
  void sgd(std::span<const SgdItem> list, double momentum) const override {
    ok(cuda_kernels::sgd(nullptr, list, momentum));
  }
  void adam(std::span<const AdamItem> list, const AdamStep& step) const override {
    ok(cuda_kernels::adam(nullptr, list, step));
  }
  void zero(std::span<const Tensor> list) const override { ok(cuda_kernels::zero(nullptr, list)); }
  void squared_norm(Tensor out, std::span<const Tensor> list) const override {
    const Tensor partials = full({cuda_kernels::squared_norm_partials(list)}, 1e30, DType::f64);
    ok(cuda_kernels::squared_norm(nullptr, out, list, partials));
  }
  void clip(std::span<const Tensor> list, const Tensor& squared_norm, double max_norm) const override {
    ok(cuda_kernels::clip(nullptr, list, squared_norm, max_norm));
  }

  void row_norm(Tensor out, const Tensor& in, RowNorm norm, double eps) const override {
    ok(cuda_kernels::row_norm(nullptr, out, in, norm, eps));
  }
  void row_norm_backward(RowNormGrads grads, const Tensor& grad_out, const Tensor& in,
                         const RowNorm& norm) const override {
    const std::int64_t width = in.size(-1), count = cuda_kernels::row_parts(in.numel() / width);
    const Tensor parts = empty({count, 2, width}, DType::f64);
    ok(cuda_kernels::row_norm_backward(nullptr, grads, grad_out, in, norm, parts));
  }
  void activate(Tensor out, const Tensor& in, Activation activation) const override {
    ok(cuda_kernels::activate(nullptr, out, in, activation));
  }
  void activate_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                         Activation activation) const override {
    ok(cuda_kernels::activate_backward(nullptr, grad_in, grad_out, in, activation));
  }
  void gather_rows(Tensor out, const Tensor& table, const Tensor& indices,
                   std::int64_t first) const override {
    ok(cuda_kernels::gather_rows(nullptr, out, table, indices, first));
  }
  void add_to_rows(Tensor table, const Tensor& grad, const Tensor& indices,
                   std::int64_t first) const override {
    ok(cuda_kernels::add_to_rows(nullptr, table, grad, indices, first));
  }
  void dropout(Tensor out, const Tensor& in, const DropoutDraw& draw) const override {
    ok(cuda_kernels::dropout(nullptr, out, in, draw));
  }
  void cross_entropy(Tensor logits, Tensor losses, const Tensor& targets, std::int64_t ignored,
                     const Tensor& count) const override {
    ok(cuda_kernels::cross_entropy(nullptr, logits, losses, targets, ignored, count));
  }
  void count_targets(Tensor count, const Tensor& targets, std::int64_t ignored) const override {
    ok(cuda_kernels::count_targets(nullptr, count, targets, ignored));
  }
  void attention(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                 const AttentionOptions& options) const override {
    ok(cuda_kernels::attention(nullptr, out, lse, q, k, v, options));
  }
  void attention_backward(AttentionGrads grads, const Heads& grad_out, const Heads& out, const Tensor& lse,
                          const Heads& q, const Heads& k, const Heads& v,
                          const AttentionOptions& options) const override {
    ok(cuda_kernels::attention_backward(nullptr, grads, grad_out, out, lse, q, k, v, options,
                                        empty_like(lse)));
  }
  void merge_attention(Tensor out, Tensor lse, const Tensor& part, const Tensor& part_lse,
                       std::int64_t first) const override {
    ok(cuda_kernels::merge_attention(nullptr, out, lse, part, part_lse, first));
  }
  void rotate(Heads heads, std::int64_t first_position, double base, int direction) const override {
    ok(cuda_kernels::rotate(nullptr, heads, first_position, base, direction));
  }

 private:
  static void ok(cudaError_t status) { EXPECT_EQ(status, cudaSuccess); }
};

inline Tensor f32(Shape shape, double seed) { return scattered(std::move(shape), seed, DType::f32); }
inline Tensor squares(const Shape& shape, double seed) { return f32(shape, seed) * f32(shape, seed); }

inline void expect_same(const Tensor& got, const Tensor& expected, std::size_t which) {
  EXPECT_TRUE(equal(got, expected)) << "result " << which;
}

inline void expect_close(const Tensor& got, const Tensor& expected, std::size_t which) {
  const Tensor size = expected.to(DType::f64), error = got.to(DType::f64) - size;
  EXPECT_LE(std::sqrt(dot(error, error)), 1e-6 * std::sqrt(dot(size, size))) << "result " << which;
}

}  // namespace dist::nn
