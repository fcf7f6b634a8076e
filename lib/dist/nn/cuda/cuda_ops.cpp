// Ops on a GPU: cuBLAS multiplies matrices, cuDNN convolves, the library's own kernels (kernels.cu) do the
// rest. Everything is f32; each call runs on the current stream of the tensor's device.
#include <algorithm>

#include "dist/core/shape.h"
#include "dist/nn/cuda/cudnn_convolution.h"
#include "dist/nn/cuda/handles.h"
#include "dist/nn/cuda/kernels.h"
#include "dist/nn/cuda/make.h"

namespace dist::nn {

namespace {

// For an empty batch: there is nothing to compute, and cuDNN does not take such shapes.
class EmptyConvolution final : public Convolution {
 public:
  explicit EmptyConvolution(const ConvolutionShape& shape) : shape_(shape) {}
  Tensor forward(const Tensor& input, const Tensor&, const Tensor&) override {
    return empty(shape_.output(), input.dtype(), input.device());
  }
  void backward_parameters(Tensor, Tensor, const Tensor&) override {}
  Tensor backward_input(const Tensor& grad_output, const Tensor&) override {
    return empty(shape_.input, grad_output.dtype(), grad_output.device());
  }

 private:
  ConvolutionShape shape_;
};

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
    const auto floats = [](const Tensor& t) { return static_cast<float*>(t.raw()); };
    const float one = 1, beta = adds ? 1 : 0;
    gpu.check(cublas_library().sgemm(gpu.cublas(), turned(b), turned(a), n, m, depth, &one, floats(b.of),
                                     width(b), floats(a.of), width(a), &beta, floats(out), n),
              "cublasSgemm");
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

  std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType) const override {
    if (product(shape.input) == 0) return std::make_unique<EmptyConvolution>(shape);
    return std::make_unique<CudnnConvolution>(*this, shape);
  }

  void sgd(Tensor value, const Tensor& grad, Tensor velocity, const SgdStep& step) const override {
    const OnGpu gpu(value);
    gpu.check(cuda_kernels::sgd(gpu.stream(), value, grad, velocity, step), "sgd");
  }

  void adam(Tensor value, const Tensor& grad, Tensor m, Tensor v, const AdamStep& step) const override {
    const OnGpu gpu(value);
    gpu.check(cuda_kernels::adam(gpu.stream(), value, grad, m, v, step), "adam");
  }
  void row_norm(Tensor, const Tensor&, RowNorm, double) const override { later(); }
  void row_norm_backward(RowNormGrads, const Tensor&, const Tensor&, const RowNorm&) const override {
    later();
  }
  void activate(Tensor, const Tensor&, Activation) const override { later(); }
  void activate_backward(Tensor, const Tensor&, const Tensor&, Activation) const override { later(); }
  void gather_rows(Tensor, const Tensor&, const Tensor&, std::int64_t) const override { later(); }
  void add_to_rows(Tensor, const Tensor&, const Tensor&, std::int64_t) const override { later(); }
  void dropout(Tensor, const Tensor&, const DropoutDraw&) const override { later(); }
  void cross_entropy(Tensor, Tensor, const Tensor&, std::int64_t, double) const override { later(); }
  void attention(Heads, Tensor, const Heads&, const Heads&, const Heads&,
                 const AttentionOptions&) const override {
    later();
  }
  void attention_backward(AttentionGrads, const Heads&, const Heads&, const Tensor&, const Heads&,
                          const Heads&, const Heads&, const AttentionOptions&) const override {
    later();
  }
  void rotate(Heads, std::int64_t, double, int) const override { later(); }

 private:
  [[noreturn]] static void later() {
    fail(Errc::unsupported, "this build has no transformer layers for GPUs; train on the CPU");
  }
};

}  // namespace

const Ops& cuda_ops() {
  static const CudaOps ops;
  return ops;
}

}  // namespace dist::nn
