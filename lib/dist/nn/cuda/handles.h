// Where a call of Ops runs on a GPU: the device, the thread's stream, and the handles of cuBLAS and cuDNN for
// it.
#pragma once

#include <string_view>

#include <cudnn.h>

#include "dist/core/device/cuda/check.h"
#include "dist/core/tensor.h"
#include "dist/nn/cuda/convolution_plans.h"
#include "dist/nn/cuda/cublas.h"

namespace dist::nn {

// cuDNN on one device, for one thread: its handle, and what is kept from call to call.
struct Cudnn {
  cudnnHandle_t handle = nullptr;
  ConvolutionPlans plans;
  // Scratch memory of at least this many bytes. All calls share it, since they run one after the other.
  void* workspace(std::size_t bytes, Device device);

 private:
  Tensor workspace_;
};

// Makes the tensor's device current for this thread while it lives.
class OnGpu {
 public:
  // Throws Error{unsupported} if the tensor is neither f32 nor bf16, or its device is not one of CUDA's own.
  explicit OnGpu(const Tensor& tensor);
  explicit OnGpu(Device device);  // for tensors of other dtypes

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas() const;  // one per thread and device, set to the stream
  Cudnn& cudnn() const;           // likewise

  void check(cudaError_t status, std::string_view call) const;
  void check(cublasStatus_t status, std::string_view call) const;
  void check(cudnnStatus_t status, std::string_view call) const;

 private:
  Device device_;
  cuda_detail::UseDevice use_;
  cudaStream_t stream_;
};

}  // namespace dist::nn
