// Ops on the CPU as plain loops, in bf16, f32 and f64: the reference for the others, and what computes where
// there is nothing faster.
#pragma once

#include "dist/nn/ops.h"

namespace dist::nn {

// c [m, n] = a [m, k] b [k, n], or += with `adds`; matrices are transposed by reading them differently. A row
// of a's memory begins `a_row` elements after the row before.
struct Gemm {
  std::int64_t m, n, k;
  std::int64_t a_row, b_row, c_row;
  bool a_transposed = false, b_transposed = false, adds = false;
};

class PlainOps : public Ops {
 public:
  void matmul(Tensor out, Matrix a, Matrix b, bool adds) const override;
  void affine(Tensor out, Matrix a, Matrix b, const Tensor& bias) const override;
  void add_channels(Tensor out, const Tensor& of_channels) const override;
  void add_channel_sums(Tensor of_channels, const Tensor& in) const override;
  void relu(Tensor out, const Tensor& in) const override;
  void relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const override;
  void max_pool(Tensor out, Tensor winners, const Tensor& in, const Windows& windows) const override;
  void max_pool_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& winners) const override;
  void batch_norm(Tensor out, const Tensor& in, NormTensors norm, const NormOptions& options) const override;
  void batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in, const NormTensors& norm,
                           bool training) const override;
  std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType dtype) const override;
  void sgd(std::span<const SgdItem> list, double momentum) const override;
  void adam(std::span<const AdamItem> list, const AdamStep& step) const override;
  void zero(std::span<const Tensor> list) const override;
  void squared_norm(Tensor out, std::span<const Tensor> list) const override;
  void clip(std::span<const Tensor> list, const Tensor& squared_norm, double max_norm) const override;

  void row_norm(Tensor out, const Tensor& in, RowNorm norm, double eps) const override;
  void row_norm_backward(RowNormGrads grads, const Tensor& grad_out, const Tensor& in,
                         const RowNorm& norm) const override;
  void activate(Tensor out, const Tensor& in, Activation activation) const override;
  void activate_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                         Activation activation) const override;
  void gather_rows(Tensor out, const Tensor& table, const Tensor& indices, std::int64_t first) const override;
  void add_to_rows(Tensor table, const Tensor& grad, const Tensor& indices,
                   std::int64_t first) const override;
  void dropout(Tensor out, const Tensor& in, const DropoutDraw& draw) const override;
  void cross_entropy(Tensor logits, Tensor losses, const Tensor& targets, std::int64_t ignored,
                     const Tensor& count) const override;
  void count_targets(Tensor count, const Tensor& targets, std::int64_t ignored) const override;
  void attention(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                 const AttentionOptions& options) const override;
  void attention_backward(AttentionGrads grads, const Heads& grad_out, const Heads& out, const Tensor& lse,
                          const Heads& q, const Heads& k, const Heads& v,
                          const AttentionOptions& options) const override;
  void merge_attention(Tensor out, Tensor lse, const Tensor& part, const Tensor& part_lse,
                       std::int64_t first) const override;
  void rotate(Heads heads, std::int64_t first_position, double base, int direction) const override;

 protected:
  virtual void gemm(const Gemm& shape, const float* a, const float* b, float* c) const;
  void gemm(const Gemm& shape, const double* a, const double* b, double* c) const;

 private:
  friend struct PlainAttention;
};

}  // namespace dist::nn
