// Where a call of Ops runs on a GPU: the device, the thread's stream, and the handles of cuBLAS and cuDNN for
// it.
#pragma once

#include <string_view>

#include <cudnn.h>

#include "dist/core/cuda/check.h"
#include "dist/core/tensor.h"
#include "dist/nn/cuda/cublas.h"

namespace dist::nn {

// The device of a tensor is current for this thread while this lives.
class OnGpu {
 public:
  // Error{unsupported} unless the tensor is f32, or on another device than CUDA's own.
  explicit OnGpu(const Tensor& tensor);

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas() const;  // one a thread and device, on the stream
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
