// RowOps on a GPU: f32 or bf16, with the arithmetic of row_functors.h. Each call enqueues on `stream` of the
// current device and returns the launch's own error. No call uses atomics: the same arguments give the same
// bits, on every GPU.
#pragma once

#include <cuda_runtime.h>

#include "dist/nn/row_ops.h"

namespace dist::nn::cuda_kernels {

cudaError_t row_norm(cudaStream_t stream, Tensor out, const Tensor& in, const RowNorm& norm, double eps);
// `parts` is f64 scratch memory for the sums over rows: [row_parts(rows), 2, width].
std::int64_t row_parts(std::int64_t rows);
cudaError_t row_norm_backward(cudaStream_t stream, const RowNormGrads& grads, const Tensor& grad_out,
                              const Tensor& in, const RowNorm& norm, Tensor parts);

cudaError_t activate(cudaStream_t stream, Tensor out, const Tensor& in, Activation activation);
cudaError_t activate_backward(cudaStream_t stream, Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                              Activation activation);

cudaError_t gather_rows(cudaStream_t stream, Tensor out, const Tensor& table, const Tensor& indices,
                        std::int64_t first);
// The block of a row's first index adds all gradients of that row, in their order. It reads all indices to
// find them, so the time grows with the square of their number: 64 blocks of indices per index for 16,384.
cudaError_t add_to_rows(cudaStream_t stream, Tensor table, const Tensor& grad, const Tensor& indices,
                        std::int64_t first);

cudaError_t dropout(cudaStream_t stream, Tensor out, const Tensor& in, const DropoutDraw& draw);
cudaError_t cross_entropy(cudaStream_t stream, Tensor logits, Tensor losses, const Tensor& targets,
                          std::int64_t ignored, const Tensor& count);
cudaError_t count_targets(cudaStream_t stream, Tensor count, const Tensor& targets, std::int64_t ignored);
cudaError_t rotate(cudaStream_t stream, const Heads& heads, std::int64_t first_position, double base,
                   int direction);

cudaError_t merge_attention(cudaStream_t stream, Tensor out, Tensor lse, const Tensor& part,
                            const Tensor& part_lse, std::int64_t first);

// Heads of at most this size.
inline constexpr std::int64_t largest_head = 128;
cudaError_t attention(cudaStream_t stream, const Heads& out, Tensor lse, const Heads& q, const Heads& k,
                      const Heads& v, const AttentionOptions& options);
// `totals` is f32 scratch memory with the shape of lse: for each query the sum of grad_out times out.
cudaError_t attention_backward(cudaStream_t stream, const RowOps::AttentionGrads& grads,
                               const Heads& grad_out, const Heads& out, const Tensor& lse, const Heads& q,
                               const Heads& k, const Heads& v, const AttentionOptions& options,
                               Tensor totals);

}  // namespace dist::nn::cuda_kernels
