// A convolution by cuDNN: descriptors for the shapes, then forward and the two backward passes, each with the
// algorithm that cuDNN ranks first and a workspace for it. Tensors that do not begin at 16 bytes are copied.
#include "dist/nn/cuda/cudnn_convolution.h"

#include <cstdint>
#include <utility>

#include "dist/nn/settings.h"

namespace dist::nn {

namespace {

void ensure(cudnnStatus_t status, std::string_view call) {
  if (status != CUDNN_STATUS_SUCCESS) fail(Errc::internal, "{}: {}", call, cudnnGetErrorString(status));
}

void describe(const TensorDescriptor& descriptor, const Shape& s) {
  ensure(cudnnSetTensor4dDescriptor(descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, static_cast<int>(s[0]),
                                    static_cast<int>(s[1]), static_cast<int>(s[2]), static_cast<int>(s[3])),
         "cudnnSetTensor4dDescriptor");
}

void describe(const FilterDescriptor& descriptor, const Shape& s) {
  ensure(cudnnSetFilter4dDescriptor(descriptor, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, static_cast<int>(s[0]),
                                    static_cast<int>(s[1]), static_cast<int>(s[2]), static_cast<int>(s[3])),
         "cudnnSetFilter4dDescriptor");
}

void describe(const ConvolutionDescriptor& descriptor, const Windows& w) {
  const auto padding = static_cast<int>(w.padding), stride = static_cast<int>(w.stride);
  ensure(cudnnSetConvolution2dDescriptor(descriptor, padding, padding, stride, stride, 1, 1,
                                         CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
         "cudnnSetConvolution2dDescriptor");
}

// "highest": without tensor cores, which round to 10 bits, losses equal those of a CPU. cuDNN's "default" is
// TF32 for f32.
void set_precision(const ConvolutionDescriptor& descriptor) {
  const auto type = matmul_precision() == "highest" ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
  ensure(cudnnSetConvolutionMathType(descriptor, type), "cudnnSetConvolutionMathType");
}

// The first candidate that works; cuDNN sorts them, the fastest first by its own estimate.
template <class Performance>
const Performance& best_of(const Performance* candidates, int count) {
  for (int i = 0; i < count; ++i)
    if (candidates[i].status == CUDNN_STATUS_SUCCESS) return candidates[i];
  fail(Errc::unsupported, "cuDNN has no algorithm for this convolution; train with Device cpu");
}

Tensor workspace(std::size_t bytes, Device device) {
  return empty({static_cast<std::int64_t>(bytes)}, DType::u8, device);
}

// cuDNN needs 16-byte alignment, and a view, of a batch or of a bucket, can begin anywhere.
Tensor aligned(const Tensor& tensor) {
  const bool is = reinterpret_cast<std::uintptr_t>(tensor.raw()) % 16 == 0;
  return is ? tensor : tensor.clone();
}

constexpr int most_candidates = 8;
constexpr float one = 1, zero = 0;

}  // namespace

CudnnConvolution::CudnnConvolution(const Ops& ops, const ConvolutionShape& shape) : ops_(ops), shape_(shape) {
  describe(in_, shape.input);
  describe(out_, shape.output());
  describe(weight_, shape.weight());
  describe(convolution_, shape.windows);
}

Tensor CudnnConvolution::forward(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const OnGpu gpu(input);
  const Tensor aligned_input = aligned(input), aligned_weight = aligned(weight);
  const cudnnHandle_t cudnn = gpu.cudnn();
  set_precision(convolution_);
  cudnnConvolutionFwdAlgoPerf_t candidates[most_candidates];
  int count = 0;
  gpu.check(cudnnGetConvolutionForwardAlgorithm_v7(cudnn, in_, weight_, convolution_, out_, most_candidates,
                                                   &count, candidates),
            "cudnnGetConvolutionForwardAlgorithm_v7");
  const auto& best = best_of(candidates, count);
  const Tensor work = workspace(best.memory, input.device());
  Tensor out = empty(shape_.output(), DType::f32, input.device());
  gpu.check(cudnnConvolutionForward(cudnn, &one, in_, aligned_input.raw(), weight_, aligned_weight.raw(),
                                    convolution_, best.algo, work.raw(), best.memory, &zero, out_, out.raw()),
            "cudnnConvolutionForward");
  if (bias.is_defined()) ops_.add_channels(out, bias);
  input_ = aligned_input;
  return out;
}

void CudnnConvolution::backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) {
  const OnGpu gpu(grad_output);
  if (grad_bias.is_defined()) ops_.add_channel_sums(grad_bias, grad_output);
  const cudnnHandle_t cudnn = gpu.cudnn();
  set_precision(convolution_);
  cudnnConvolutionBwdFilterAlgoPerf_t candidates[most_candidates];
  int count = 0;
  gpu.check(cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnn, in_, out_, convolution_, weight_,
                                                          most_candidates, &count, candidates),
            "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
  const auto& best = best_of(candidates, count);
  const Tensor work = workspace(best.memory, grad_output.device());
  const Tensor input = std::exchange(input_, {}), aligned_grad = aligned(grad_output);
  // The gradient may be anywhere in a bucket, too, so it is written to memory of its own and then added.
  const Tensor apart = empty_like(grad_weight);
  gpu.check(
      cudnnConvolutionBackwardFilter(cudnn, &one, in_, input.raw(), out_, aligned_grad.raw(), convolution_,
                                     best.algo, work.raw(), best.memory, &zero, weight_, apart.raw()),
      "cudnnConvolutionBackwardFilter");
  grad_weight.add_(apart);
}

Tensor CudnnConvolution::backward_input(const Tensor& grad_output, const Tensor& weight) {
  const OnGpu gpu(grad_output);
  const Tensor aligned_grad = aligned(grad_output), aligned_weight = aligned(weight);
  const cudnnHandle_t cudnn = gpu.cudnn();
  set_precision(convolution_);
  cudnnConvolutionBwdDataAlgoPerf_t candidates[most_candidates];
  int count = 0;
  gpu.check(cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnn, weight_, out_, convolution_, in_,
                                                        most_candidates, &count, candidates),
            "cudnnGetConvolutionBackwardDataAlgorithm_v7");
  const auto& best = best_of(candidates, count);
  const Tensor work = workspace(best.memory, grad_output.device());
  Tensor grad_input = empty(shape_.input, DType::f32, grad_output.device());
  gpu.check(cudnnConvolutionBackwardData(cudnn, &one, weight_, aligned_weight.raw(), out_, aligned_grad.raw(),
                                         convolution_, best.algo, work.raw(), best.memory, &zero, in_,
                                         grad_input.raw()),
            "cudnnConvolutionBackwardData");
  return grad_input;
}

}  // namespace dist::nn
