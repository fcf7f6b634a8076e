// Ops by oneDNN: convolutions and matrix products in f32; everything else, and f64, uses the plain loops.
#include <dnnl.hpp>

#include "dist/core/shape.h"
#include "dist/nn/cpu_ops.h"
#include "dist/nn/onednn/call.h"
#include "dist/nn/onednn/convolution.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

class OneDnnOps final : public PlainOps {
 public:
  void matmul(Tensor out, Matrix a, Matrix b, bool adds) const override {
    const std::int64_t m = out.size(0), n = out.size(1), depth = a.of.size(a.transposed ? 0 : 1);
    if (out.dtype() != DType::f32 || m * n * depth == 0) return PlainOps::matmul(out, a, b, adds);
    const auto letter = [](const Matrix& matrix) { return matrix.transposed ? 'T' : 'N'; };
    const auto floats = [](const Tensor& t) { return static_cast<float*>(t.raw()); };
    onednn::called([&] {
      const auto status = dnnl::sgemm(letter(a), letter(b), m, n, depth, 1, floats(a.of), a.of.size(1),
                                      floats(b.of), b.of.size(1), adds ? 1.F : 0.F, floats(out), n);
      dnnl::error::wrap_c_api(static_cast<dnnl_status_t>(status), "could not multiply matrices");
    });
  }

  std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType dtype) const override {
    if (dtype != DType::f32 || product(shape.input) == 0) return PlainOps::make_convolution(shape, dtype);
    return onednn::called([&] { return std::make_unique<onednn::OneDnnConvolution>(shape); });
  }
};

}  // namespace

const Ops& cpu_ops() {
  static const OneDnnOps ops;
  return ops;
}

const char* describe_cpu_ops() { return "oneDNN"; }

}  // namespace dist::nn
