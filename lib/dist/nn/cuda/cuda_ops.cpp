// Ops on a GPU: cuBLAS multiplies matrices, cuDNN convolves, the library's own kernels (kernels.cu,
// row_kernels.cu, attention_kernels.cu, ...) do the rest. Tensors are f32 or bf16; each call runs on the
// current stream of the tensor's device.
#include <algorithm>

#include "dist/core/device/cuda/cuda_device.h"
#include "dist/core/shape.h"
#include "dist/nn/cuda/cudnn_convolution.h"
#include "dist/nn/cuda/handles.h"
#include "dist/nn/cuda/kernels.h"
#include "dist/nn/cuda/list_kernels.h"
#include "dist/nn/cuda/make.h"
#include "dist/nn/cuda/row_kernels.h"
#include "dist/nn/rounded_convolution.h"
#include "dist/nn/settings.h"

namespace dist::nn {

namespace {

// For an empty batch: there is nothing to compute, and cuDNN does not take such shapes.
class EmptyConvolution final : public Convolution {
 public:
  explicit EmptyConvolution(const ConvolutionShape& shape) : shape_(shape) {}
  Tensor forward(const Tensor& input, const Tensor&, const Tensor&) override {
    return empty(shape_.output(), input.dtype(), input.device());
  }
  void forget_input() override {}
  void backward_parameters(Tensor, Tensor, const Tensor&) override {}
  Tensor backward_input(const Tensor& grad_output, const Tensor&) override {
    return empty(shape_.input, grad_output.dtype(), grad_output.device());
  }

 private:
  ConvolutionShape shape_;
};

// Sums are always in f32; bf16 factors are exact in all of them.
cublasComputeType_t compute_type() {
  if (matmul_precision() == "high") return CUBLAS_COMPUTE_32F_FAST_TF32;
  if (matmul_precision() == "medium") return CUBLAS_COMPUTE_32F_FAST_16BF;
  return CUBLAS_COMPUTE_32F;
}

class CudaOps final : public Ops {
 public:
  // cuBLAS stores matrices by columns, so it sees these as transposed: out^T = b^T a^T.
  void matmul(Tensor out, Matrix a, Matrix b, bool adds) const override {
    const OnGpu gpu(out);
    const auto m = static_cast<int>(out.size(0)), n = static_cast<int>(out.size(1)),
               depth = static_cast<int>(a.of.size(a.transposed ? 0 : 1));
    if (m == 0 || n == 0) return;
    const auto turned = [](const Matrix& matrix) { return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const auto width = [](const Matrix& matrix) { return std::max(1, static_cast<int>(matrix.of.size(1))); };
    const cudaDataType_t type = out.dtype() == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const float one = 1, beta = adds ? 1 : 0;
    gpu.check(cublas_library().gemm(gpu.cublas(), turned(b), turned(a), n, m, depth, &one, b.of.raw(), type,
                                    width(b), a.of.raw(), type, width(a), &beta, out.raw(), type, n,
                                    compute_type(), CUBLAS_GEMM_DEFAULT),
              "cublasGemmEx");
  }

  void add_channels(Tensor out, const Tensor& of_channels) const override {
    const OnGpu gpu(out);
    gpu.check(cuda_kernels::add_channels(gpu.stream(), out, of_channels), "add_channels");
  }

  void add_channel_sums(Tensor of_channels, const Tensor& in) const override {
    const OnGpu gpu(in);
    gpu.check(cuda_kernels::add_channel_sums(gpu.stream(), of_channels, in), "add_channel_sums");
  }

  void relu(Tensor out, const Tensor& in) const override { relu_backward(out, in, in); }

  void relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const override {
    const OnGpu gpu(out);
    gpu.check(cuda_kernels::relu(gpu.stream(), out, grad, result), "relu");
  }

  void max_pool(Tensor out, Tensor winners, const Tensor& in, const Windows& windows) const override {
    const OnGpu gpu(in);
    gpu.check(cuda_kernels::max_pool(gpu.stream(), out, winners, in, windows), "max_pool");
  }

  void max_pool_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& winners) const override {
    if (grad_in.dtype() == DType::bf16) {
      const Tensor sums = empty(grad_in.shape(), DType::f32, grad_in.device());
      max_pool_backward(sums, grad_out.to(DType::f32), winners);
      grad_in.copy_(sums);
      return;
    }
    const OnGpu gpu(grad_in);
    grad_in.zero_();
    gpu.check(cuda_kernels::max_pool_backward(gpu.stream(), grad_in, grad_out, winners), "max_pool_backward");
  }

  void batch_norm(Tensor out, const Tensor& in, NormTensors norm, const NormOptions& options) const override {
    const OnGpu gpu(in);
    const Tensor lines = empty({in.size(1), 2}, DType::f64, in.device());
    gpu.check(cuda_kernels::batch_norm(gpu.stream(), out, in, norm, options, lines), "batch_norm");
  }

  void batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in, const NormTensors& norm,
                           bool training) const override {
    const OnGpu gpu(in);
    const Tensor planes = empty({in.size(1), 3}, DType::f64, in.device());
    gpu.check(cuda_kernels::batch_norm_backward(gpu.stream(), grads, grad_out, in, norm, training, planes),
              "batch_norm_backward");
  }

  std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType dtype) const override {
    if (dtype == DType::bf16) return make_rounded_convolution(make_convolution(shape, DType::f32));
    if (product(shape.input) == 0) return std::make_unique<EmptyConvolution>(shape);
    return std::make_unique<CudnnConvolution>(*this, shape);
  }

  void sgd(std::span<const SgdItem> list, double momentum) const override {
    if (list.empty()) return;
    const OnGpu gpu(list[0].value);
    gpu.check(cuda_kernels::sgd(gpu.stream(), list, momentum), "sgd");
  }

  void adam(std::span<const AdamItem> list, const AdamStep& step) const override {
    if (list.empty()) return;
    const OnGpu gpu(list[0].value);
    gpu.check(cuda_kernels::adam(gpu.stream(), list, step), "adam");
  }

  void zero(std::span<const Tensor> list) const override {
    if (list.empty()) return;
    const OnGpu gpu(list[0]);
    gpu.check(cuda_kernels::zero(gpu.stream(), list), "zero");
  }

  void squared_norm(Tensor out, std::span<const Tensor> list) const override {
    if (list.empty()) return void(out.zero_());
    const OnGpu gpu(list[0]);
    const Tensor partials = empty({cuda_kernels::squared_norm_partials(list)}, DType::f64, out.device());
    gpu.check(cuda_kernels::squared_norm(gpu.stream(), out, list, partials), "squared_norm");
  }

  void clip(std::span<const Tensor> list, const Tensor& squared_norm, double max_norm) const override {
    if (list.empty()) return;
    const OnGpu gpu(list[0]);
    gpu.check(cuda_kernels::clip(gpu.stream(), list, squared_norm, max_norm), "clip");
  }

  void row_norm(Tensor out, const Tensor& in, RowNorm norm, double eps) const override {
    const OnGpu gpu(in);
    gpu.check(cuda_kernels::row_norm(gpu.stream(), out, in, norm, eps), "row_norm");
  }

  void row_norm_backward(RowNormGrads grads, const Tensor& grad_out, const Tensor& in,
                         const RowNorm& norm) const override {
    const OnGpu gpu(in);
    const std::int64_t width = in.size(-1), count = cuda_kernels::row_parts(in.numel() / width);
    const Tensor parts = empty({count, 2, width}, DType::f64, in.device());
    gpu.check(cuda_kernels::row_norm_backward(gpu.stream(), grads, grad_out, in, norm, parts),
              "row_norm_backward");
  }

  void activate(Tensor out, const Tensor& in, Activation activation) const override {
    const OnGpu gpu(in);
    gpu.check(cuda_kernels::activate(gpu.stream(), out, in, activation), "activate");
  }

  void activate_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                         Activation activation) const override {
    const OnGpu gpu(in);
    gpu.check(cuda_kernels::activate_backward(gpu.stream(), grad_in, grad_out, in, activation),
              "activate_backward");
  }

  void gather_rows(Tensor out, const Tensor& table, const Tensor& indices,
                   std::int64_t first) const override {
    const OnGpu gpu(out);
    gpu.check(cuda_kernels::gather_rows(gpu.stream(), out, table, indices, first), "gather_rows");
  }

  void add_to_rows(Tensor table, const Tensor& grad, const Tensor& indices,
                   std::int64_t first) const override {
    const OnGpu gpu(table);
    gpu.check(cuda_kernels::add_to_rows(gpu.stream(), table, grad, indices, first), "add_to_rows");
  }

  void dropout(Tensor out, const Tensor& in, const DropoutDraw& draw) const override {
    const OnGpu gpu(in);
    gpu.check(cuda_kernels::dropout(gpu.stream(), out, in, draw), "dropout");
  }

  void cross_entropy(Tensor logits, Tensor losses, const Tensor& targets, std::int64_t ignored,
                     const Tensor& count) const override {
    const OnGpu gpu(logits);
    gpu.check(cuda_kernels::cross_entropy(gpu.stream(), logits, losses, targets, ignored, count),
              "cross_entropy");
  }

  void count_targets(Tensor count, const Tensor& targets, std::int64_t ignored) const override {
    const OnGpu gpu(count.device());
    gpu.check(cuda_kernels::count_targets(gpu.stream(), count, targets, ignored), "count_targets");
  }

  void attention(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                 const AttentionOptions& options) const override {
    const OnGpu gpu(q.of);
    if (q.size > cuda_kernels::largest_head)
      fail(Errc::unsupported,
           "attention on {}: heads of size {}, at most {} is possible there; divide the width by more heads, "
           "or train with Device cpu",
           q.of.device().str(), q.size, cuda_kernels::largest_head);
    gpu.check(cuda_kernels::attention(gpu.stream(), out, lse, q, k, v, options), "attention");
  }

  void attention_backward(AttentionGrads grads, const Heads& grad_out, const Heads& out, const Tensor& lse,
                          const Heads& q, const Heads& k, const Heads& v,
                          const AttentionOptions& options) const override {
    const OnGpu gpu(q.of);
    const Tensor totals = empty_like(lse);
    gpu.check(
        cuda_kernels::attention_backward(gpu.stream(), grads, grad_out, out, lse, q, k, v, options, totals),
        "attention_backward");
  }

  void merge_attention(Tensor out, Tensor lse, const Tensor& part, const Tensor& part_lse,
                       std::int64_t first) const override {
    const OnGpu gpu(part);
    gpu.check(cuda_kernels::merge_attention(gpu.stream(), out, lse, part, part_lse, first),
              "merge_attention");
  }

  void rotate(Heads heads, std::int64_t first_position, double base, int direction) const override {
    const OnGpu gpu(heads.of);
    gpu.check(cuda_kernels::rotate(gpu.stream(), heads, first_position, base, direction), "rotate");
  }
};

}  // namespace

const Ops& cuda_ops() {
  static const CudaOps ops;
  return ops;
}

bool has_cuda_ops() { return dynamic_cast<CudaDevice*>(&device_api(DeviceType::cuda)) != nullptr; }

}  // namespace dist::nn
