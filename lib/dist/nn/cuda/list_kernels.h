// What Ops does with lists of tensors, on a GPU: f32 or bf16, with the arithmetic of functors.h. Each call
// enqueues on `stream` of the current device and returns the launch's own error.
#pragma once

#include <cstdint>
#include <span>

#include <cuda_runtime.h>

#include "dist/nn/ops.h"

namespace dist::nn::cuda_kernels {

cudaError_t sgd(cudaStream_t stream, std::span<const SgdItem> list, double momentum);
cudaError_t adam(cudaStream_t stream, std::span<const AdamItem> list, const AdamStep& step);
cudaError_t zero(cudaStream_t stream, std::span<const Tensor> list);

// The same bits on every GPU. `partials` is f64 scratch memory of as many elements as this function says:
std::int64_t squared_norm_partials(std::span<const Tensor> list);
cudaError_t squared_norm(cudaStream_t stream, Tensor out, std::span<const Tensor> list, Tensor partials);
cudaError_t clip(cudaStream_t stream, std::span<const Tensor> list, const Tensor& squared_norm,
                 double max_norm);

}  // namespace dist::nn::cuda_kernels
