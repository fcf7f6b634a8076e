// Where a call of Ops runs on a GPU: the device, the thread's stream, and the handles of cuBLAS and cuDNN for
// it.
#pragma once

#include <string_view>

#include <cudnn.h>

#include "dist/core/device/cuda/check.h"
#include "dist/core/tensor.h"
#include "dist/nn/cuda/cublas.h"

namespace dist::nn {

// Makes the tensor's device current for this thread while it lives.
class OnGpu {
 public:
  // Throws Error{unsupported} if the tensor is neither f32 nor bf16, or its device is not one of CUDA's own.
  explicit OnGpu(const Tensor& tensor);

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas() const;  // one per thread and device, set to the stream
  cudnnHandle_t cudnn() const;

  void check(cudaError_t status, std::string_view call) const;
  void check(cublasStatus_t status, std::string_view call) const;
  void check(cudnnStatus_t status, std::string_view call) const;

 private:
  Device device_;
  cuda_detail::UseDevice use_;
  cudaStream_t stream_;
};

}  // namespace dist::nn
