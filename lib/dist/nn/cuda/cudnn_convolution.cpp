// A convolution by cuDNN: descriptors for the shapes, then forward and the two backward passes, each with the
// algorithm that cuDNN ranks first (convolution_plans.h). Tensors that do not begin at 16 bytes are copied.
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

constexpr int most_candidates = 8;

void set_math(const ConvolutionDescriptor& descriptor, int math) {
  ensure(cudnnSetConvolutionMathType(descriptor, static_cast<cudnnMathType_t>(math)),
         "cudnnSetConvolutionMathType");
}

// The first candidate that works: cuDNN sorts them, the fastest first by its own estimate. ask(most, count,
// candidates) asks it. Without TF32 no tensor cores are used, which round to 10 bits: losses equal those of a
// CPU.
template <class Candidate, class Ask>
ConvolutionPlan choose(const ConvolutionDescriptor& descriptor, bool tf32, const Ask& ask) {
  set_math(descriptor, tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH);
  Candidate candidates[most_candidates];
  int count = 0;
  ask(most_candidates, &count, candidates);
  for (int i = 0; i < count; ++i)
    if (candidates[i].status == CUDNN_STATUS_SUCCESS)
      return {static_cast<int>(candidates[i].algo), tf32 ? candidates[i].mathType : CUDNN_FMA_MATH,
              candidates[i].memory};
  fail(Errc::unsupported, "cuDNN has no algorithm for this convolution; train with Device cpu");
}

// cuDNN needs 16-byte alignment, and a view, of a batch or of a bucket, can begin anywhere.
bool is_aligned(const Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.raw()) % 16 == 0; }
Tensor aligned(const Tensor& tensor) { return is_aligned(tensor) ? tensor : tensor.clone(); }

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
  Cudnn& cudnn = gpu.cudnn();
  const bool tf32 = tf32_convolutions();
  const auto& plan = cudnn.plans.of(shape_, ConvolutionPass::forward, tf32, [&] {
    return choose<cudnnConvolutionFwdAlgoPerf_t>(convolution_, tf32, [&](int most, int* count, auto* found) {
      gpu.check(cudnnGetConvolutionForwardAlgorithm_v7(cudnn.handle, in_, weight_, convolution_, out_, most,
                                                       count, found),
                "cudnnGetConvolutionForwardAlgorithm_v7");
    });
  });
  set_math(convolution_, plan.math);
  Tensor out = empty(shape_.output(), DType::f32, input.device());
  gpu.check(
      cudnnConvolutionForward(cudnn.handle, &one, in_, aligned_input.raw(), weight_, aligned_weight.raw(),
                              convolution_, static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm),
                              cudnn.workspace(plan.workspace_bytes, input.device()), plan.workspace_bytes,
                              &zero, out_, out.raw()),
      "cudnnConvolutionForward");
  if (bias.is_defined()) ops_.add_channels(out, bias);
  input_ = aligned_input;
  return out;
}

// cuDNN adds to the gradient where it is, unless that begins at an address that cuDNN cannot take.
void CudnnConvolution::backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) {
  const OnGpu gpu(grad_output);
  if (grad_bias.is_defined()) ops_.add_channel_sums(grad_bias, grad_output);
  Cudnn& cudnn = gpu.cudnn();
  const bool tf32 = tf32_convolutions();
  const auto& plan = cudnn.plans.of(shape_, ConvolutionPass::grad_weight, tf32, [&] {
    return choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
        convolution_, tf32, [&](int most, int* count, auto* found) {
          gpu.check(cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnn.handle, in_, out_, convolution_,
                                                                  weight_, most, count, found),
                    "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
        });
  });
  set_math(convolution_, plan.math);
  const Tensor input = std::exchange(input_, {}), aligned_grad = aligned(grad_output);
  const bool in_place = is_aligned(grad_weight);
  const Tensor to = in_place ? grad_weight : empty_like(grad_weight);
  gpu.check(cudnnConvolutionBackwardFilter(cudnn.handle, &one, in_, input.raw(), out_, aligned_grad.raw(),
                                           convolution_,
                                           static_cast<cudnnConvolutionBwdFilterAlgo_t>(plan.algorithm),
                                           cudnn.workspace(plan.workspace_bytes, grad_output.device()),
                                           plan.workspace_bytes, in_place ? &one : &zero, weight_, to.raw()),
            "cudnnConvolutionBackwardFilter");
  if (!in_place) grad_weight.add_(to);
}

Tensor CudnnConvolution::backward_input(const Tensor& grad_output, const Tensor& weight) {
  const OnGpu gpu(grad_output);
  const Tensor aligned_grad = aligned(grad_output), aligned_weight = aligned(weight);
  Cudnn& cudnn = gpu.cudnn();
  const bool tf32 = tf32_convolutions();
  const auto& plan = cudnn.plans.of(shape_, ConvolutionPass::grad_input, tf32, [&] {
    return choose<cudnnConvolutionBwdDataAlgoPerf_t>(
        convolution_, tf32, [&](int most, int* count, auto* found) {
          gpu.check(cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnn.handle, weight_, out_, convolution_,
                                                                in_, most, count, found),
                    "cudnnGetConvolutionBackwardDataAlgorithm_v7");
        });
  });
  set_math(convolution_, plan.math);
  Tensor grad_input = empty(shape_.input, DType::f32, grad_output.device());
  gpu.check(cudnnConvolutionBackwardData(cudnn.handle, &one, weight_, aligned_weight.raw(), out_,
                                         aligned_grad.raw(), convolution_,
                                         static_cast<cudnnConvolutionBwdDataAlgo_t>(plan.algorithm),
                                         cudnn.workspace(plan.workspace_bytes, grad_output.device()),
                                         plan.workspace_bytes, &zero, in_, grad_input.raw()),
            "cudnnConvolutionBackwardData");
  return grad_input;
}

}  // namespace dist::nn
