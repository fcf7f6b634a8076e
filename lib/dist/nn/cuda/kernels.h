// What Ops needs on a GPU besides cuBLAS and cuDNN: f32 or bf16, with the arithmetic of functors.h. Each
// call enqueues on `stream` of the current device and returns the launch's own error.
#pragma once

#include <cuda_runtime.h>

#include "dist/nn/ops.h"

namespace dist::nn::cuda_kernels {

cudaError_t add_channels(cudaStream_t stream, Tensor out, const Tensor& of_channels);
cudaError_t add_channel_sums(cudaStream_t stream, Tensor of_channels, const Tensor& in);
cudaError_t relu(cudaStream_t stream, Tensor out, const Tensor& in, const Tensor& deciding);
cudaError_t max_pool(cudaStream_t stream, Tensor out, Tensor winners, const Tensor& in,
                     const Windows& windows);
// f32 only: windows may overlap, and each sum is to be rounded once.
cudaError_t max_pool_backward(cudaStream_t stream, Tensor grad_in, const Tensor& grad_out,
                              const Tensor& winners);
// `lines` and `planes` are f64 scratch memory for the kernels: two and three elements per channel.
cudaError_t batch_norm(cudaStream_t stream, Tensor out, const Tensor& in, const NormTensors& norm,
                       const NormOptions& options, Tensor lines);
cudaError_t batch_norm_backward(cudaStream_t stream, const Ops::NormGrads& grads, const Tensor& grad_out,
                                const Tensor& in, const NormTensors& norm, bool training, Tensor planes);

}  // namespace dist::nn::cuda_kernels
