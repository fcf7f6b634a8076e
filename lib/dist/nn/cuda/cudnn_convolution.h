// The convolution of one layer by cuDNN, in f32.
#pragma once

#include <memory>

#include <cudnn.h>

#include "dist/nn/cuda/handles.h"
#include "dist/nn/ops.h"

namespace dist::nn {

// A descriptor of cuDNN, with its one function to make it and one to destroy it.
template <class Handle, cudnnStatus_t (*make)(Handle*), cudnnStatus_t (*destroy)(Handle)>
class Descriptor {
 public:
  Descriptor() {
    if (make(&handle_) != CUDNN_STATUS_SUCCESS) fail(Errc::resource, "cuDNN has no memory for a descriptor");
  }
  ~Descriptor() { destroy(handle_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor = Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                                         cudnnDestroyConvolutionDescriptor>;

// For the device on which forward() finds the input; no size of the shape is 0.
class CudnnConvolution final : public Convolution {
 public:
  CudnnConvolution(const Ops& ops, const ConvolutionShape& shape);

  Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias) override;
  void forget_input() override { input_ = {}; }
  void backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) override;
  Tensor backward_input(const Tensor& grad_output, const Tensor& weight) override;

 private:
  const Ops& ops_;
  ConvolutionShape shape_;
  TensorDescriptor in_, out_;
  FilterDescriptor weight_;
  ConvolutionDescriptor convolution_;
  Tensor input_;
};

}  // namespace dist::nn
