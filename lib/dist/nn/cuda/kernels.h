// What Ops needs of a GPU beside cuBLAS and cuDNN, beside the files of plain_ops.h: f32, the arithmetic of
// functors.h. Each call enqueues on `stream` of the current device and returns what the launch said.
#pragma once

#include <cuda_runtime.h>

#include "dist/nn/ops.h"

namespace dist::nn::cuda_kernels {

cudaError_t add_channels(cudaStream_t stream, Tensor out, const Tensor& of_channels);
cudaError_t add_channel_sums(cudaStream_t stream, Tensor of_channels, const Tensor& in);
cudaError_t relu(cudaStream_t stream, Tensor out, const Tensor& in, const Tensor& deciding);
cudaError_t max_pool(cudaStream_t stream, Tensor out, Tensor winners, const Tensor& in,
                     const Windows& windows);
cudaError_t max_pool_backward(cudaStream_t stream, Tensor grad_in, const Tensor& grad_out,
                              const Tensor& winners);
// `lines`, `planes`: f64, two and three for each channel, for the kernels' own use.
cudaError_t batch_norm(cudaStream_t stream, Tensor out, const Tensor& in, const NormTensors& norm,
                       const NormOptions& options, Tensor lines);
cudaError_t batch_norm_backward(cudaStream_t stream, const Ops::NormGrads& grads, const Tensor& grad_out,
                                const Tensor& in, const NormTensors& norm, bool training, Tensor planes);
cudaError_t sgd(cudaStream_t stream, Tensor value, const Tensor& grad, Tensor velocity, const SgdStep& step);
cudaError_t adam(cudaStream_t stream, Tensor value, const Tensor& grad, Tensor m, Tensor v,
                 const AdamStep& step);

}  // namespace dist::nn::cuda_kernels
